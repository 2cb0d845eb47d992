// Resolves relative imports without an extension to .ts files, as TypeScript and bundlers do.
import { registerHooks } from 'node:module'

registerHooks({
  resolve: (specifier, context, next) => {
    const isOwnCode = context.parentURL?.startsWith('file:') && !context.parentURL.includes('/node_modules/')
    const hasNoExtension = /^\.\.?\/(?:\.\.\/)*[^.]+$/.test(specifier)
    return next(isOwnCode && hasNoExtension ? `${specifier}.ts` : specifier, context)
  },
})
