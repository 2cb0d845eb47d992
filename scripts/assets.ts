// Makes the files that the Worker serves beside its answers: the API's document, from the very app. Wrangler runs it
// before it bundles, so no document is older than the code.
import { mkdirSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../dist/assets')

// The Worker's modules name each other without an extension, as its bundler has it.
registerHooks({
  resolve: (specifier, context, next) => next(/^\..*\/[^.]+$/.test(specifier) ? `${specifier}.ts` : specifier, context),
})
const DOCUMENT = '../src/document.ts'
const { buildDocument }: { buildDocument: () => object } = await import(DOCUMENT)

mkdirSync(FOLDER, { recursive: true })
writeFileSync(join(FOLDER, 'openapi.json'), `${JSON.stringify(buildDocument(), null, 2)}\n`)
