// Makes the files that the Worker serves beside its answers: the API's document, from the very app, and the page that
// shows it. Wrangler runs it before it bundles, so no document is older than the code.
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'dist/assets')
const SWAGGER = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'favicon-32x32.png',
  'LICENSE',
  'NOTICE',
]

// The Worker's modules name each other without an extension, as its bundler has it.
registerHooks({
  resolve: (specifier, context, next) => next(/^\..*\/[^.]+$/.test(specifier) ? `${specifier}.ts` : specifier, context),
})
const DOCUMENT = '../src/openapi/document.ts'
const { buildDocument }: { buildDocument: () => object } = await import(DOCUMENT)

mkdirSync(join(FOLDER, 'docs'), { recursive: true })
writeFileSync(join(FOLDER, 'openapi.json'), `${JSON.stringify(buildDocument(), null, 2)}\n`)
cpSync(join(ROOT, 'src/docs/page'), join(FOLDER, 'docs'), { recursive: true })
for (const file of SWAGGER) copyFileSync(join(ROOT, 'node_modules/swagger-ui-dist', file), join(FOLDER, 'docs', file))
