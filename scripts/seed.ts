// `npm run seed`: adds a demo member with a library to a running service, so that every view has content.
import { failWithUsage, parseOptions } from './options.ts'
import { print, printError } from './print.ts'
import { DEMO, seed } from './seed/demo.ts'
import { SERVICE_OPTIONS } from './transfer/arguments.ts'

const USAGE = `npm run seed [-- [--url URL] [--reset]]
  --url      the URL of the service (default http://localhost:8787)
  --reset    deletes an existing demo member and creates it again`

const fail = (message: string): never => {
  printError(message)
  process.exit(1)
}

const readArguments = () => {
  const options = { reset: { type: 'boolean', default: false }, url: SERVICE_OPTIONS.url } as const
  const { reset, url } = parseOptions({ options }, USAGE).values
  if (!URL.canParse(url)) failWithUsage(USAGE)
  const { origin, pathname } = new URL(url)
  return { reset, base: origin + pathname.replace(/\/$/, '') }
}

const { base, reset } = readArguments()
print(`Seeding ${base}`)
const { isNew, views } = await seed(fetch, base, { reset }).catch((error: Error) => fail(error.message))

print(isNew ? 'Created the demo member. Entries per view:' : 'The demo member exists (--reset creates it again):')
for (const { path, count } of views) print(`${String(count).padStart(4)}  GET ${path}`)

const { email, password } = DEMO
const detail = views.find(({ path }) => path.includes('memoAuthority=ALL'))?.path ?? '/members/me'
print(`
Log in as ${email} with the password ${password}, for example:

TOKEN=$(curl -s -D - -o /dev/null ${base}/login -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ email, password })}' | tr -d '\\r' | sed -n 's/^Authorization: //ip')
curl -s '${base}/books/library?page=1&size=5&bookStatus=ING' -H "Authorization: $TOKEN"
curl -s '${base}${detail}' -H "Authorization: $TOKEN"
curl -s ${base}/memos/random -H "Authorization: $TOKEN"`)
