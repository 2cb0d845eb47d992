// Lets Node find what TypeScript and bundlers find: a relative import without an extension is a .ts file.
import { registerHooks } from 'node:module'

registerHooks({
  resolve: (specifier, context, next) => {
    const isOurs = context.parentURL?.startsWith('file:') && !context.parentURL.includes('/node_modules/')
    return next(
      isOurs && /^\.\.?\/[^.]+$|^\.\.?\/(?:\.\.\/)*[^.]+$/.test(specifier) ? `${specifier}.ts` : specifier,
      context,
    )
  },
})
