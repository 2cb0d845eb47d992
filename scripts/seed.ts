// Puts a demo member with a library into a running service, so that every view has something to show.
import { parseArgs } from 'node:util'
import { DEMO, seed } from './seed/demo.ts'

const USAGE = `Usage: npm run seed [-- [BASE_URL] [--renew]]
  BASE_URL   where the service runs (default http://localhost:8787)
  --renew    withdraws the demo member who is there, and begins anew`

const giveUp = (why: string): never => {
  console.error(why)
  process.exit(1)
}

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { renew: { type: 'boolean', default: false } },
    })
    const { origin, pathname } = new URL(positionals[0] ?? 'http://localhost:8787')
    return { renew: values.renew, base: origin + pathname.replace(/\/$/, '') }
  } catch {
    return giveUp(USAGE)
  }
}

const { base, renew } = readArguments()
console.log(`Seeding ${base}`)
const { isNew, views } = await seed(fetch, base, { renew }).catch((error: Error) => giveUp(error.message))

console.log(
  isNew ? 'The demo member is there, with a library:' : 'The demo member was there already (--renew begins anew):',
)
for (const { path, shown } of views) console.log(`${String(shown).padStart(4)}  GET ${path}`)

const { email, password } = DEMO
const example = views.find(({ path }) => path.includes('memoAuthority=ALL'))?.path ?? '/members/me'
console.log(`
Log in as ${email} with the password ${password}, for example:

TOKEN=$(curl -s -D - -o /dev/null ${base}/login -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ email, password })}' | tr -d '\\r' | sed -n 's/^Authorization: //ip')
curl -s '${base}/books/library?page=1&size=5&bookStatus=ING' -H "Authorization: $TOKEN"
curl -s '${base}${example}' -H "Authorization: $TOKEN"
curl -s ${base}/memos/random -H "Authorization: $TOKEN"`)
