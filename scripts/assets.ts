// Generates the static files in dist/assets: the OpenAPI document, built from the app, the reference page that shows it, the
// filter of common passwords, the templates of mails, and the sample catalogue. Wrangler runs this before each bundling, so
// the document always matches the code.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { dictionary } from '@zxcvbn-ts/language-common'
import { renderPage } from './reference/page.ts'

const ROOT = join(import.meta.dirname, '..')
const OUTPUT = join(ROOT, 'dist/assets')
const PAGE = join(ROOT, 'src/reference/page')

/** Leaves a file that does not change: other processes may read it, and `wrangler dev` watches it. */
const write = (name: string, content: string | Uint8Array) => {
  const path = join(OUTPUT, name)
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(content))) return
  writeFileSync(path, content)
}

// The Worker's imports have no file extension, which its bundler resolves and Node does not.
registerHooks({
  resolve: (specifier, context, next) => next(/^\..*\/[^.]+$/.test(specifier) ? `${specifier}.ts` : specifier, context),
})
const DOCUMENT = '../src/openapi/document.ts'
const { buildDocument }: { buildDocument: (introduction: string) => object } = await import(DOCUMENT)
const introduction = readFileSync(join(ROOT, 'src/openapi/introduction.md'), 'utf8')
const COMMON_PASSWORDS_MODULE = '../src/accounts/passwords/common-passwords.ts'
const { COMMON_PASSWORDS, FILTER_FILE, toFilter }: typeof import('../src/accounts/passwords/common-passwords') =
  await import(COMMON_PASSWORDS_MODULE)
const SAMPLE_BOOKS_MODULE = '../src/catalogue/providers/sample-books.ts'
const { BOOKS, SAMPLE_FILE }: typeof import('../src/catalogue/providers/sample-books') = await import(
  SAMPLE_BOOKS_MODULE
)
const [COMPOSE_MODULE, TEMPLATES_MODULE] = ['../src/accounts/mail/compose.ts', '../src/accounts/mail/templates.ts']
const { TEMPLATES_FILE }: typeof import('../src/accounts/mail/compose') = await import(COMPOSE_MODULE)
const { toTemplates }: typeof import('../src/accounts/mail/templates') = await import(TEMPLATES_MODULE)
/** Shorter ones are invalid anyway. */
const MIN_PASSWORD = 6

mkdirSync(join(OUTPUT, 'docs'), { recursive: true })
const document = `${JSON.stringify(buildDocument(introduction), null, 2)}\n`
write('openapi.json', document)
write('docs/index.html', renderPage(JSON.parse(document)))
for (const name of readdirSync(PAGE)) write(`docs/${name}`, readFileSync(join(PAGE, name)))

// The list is ordered by frequency.
const passwords = dictionary['passwords-common'].filter((password) => password.length >= MIN_PASSWORD)
write(FILTER_FILE, await toFilter(passwords.slice(0, COMMON_PASSWORDS)))
write(SAMPLE_FILE, JSON.stringify(BOOKS))
write(TEMPLATES_FILE, JSON.stringify(toTemplates()))
