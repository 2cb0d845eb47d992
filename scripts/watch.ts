// `npm run watch`: evaluates the alerts of docs/operations.md once.
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { LOCATION_OPTIONS } from './data/stores.ts'
import { failWithUsage, parseOptions } from './options.ts'
import { print, printError } from './print.ts'
import { createMailer } from './serve/mailer.ts'
import { evaluate, type Sources } from './watch/alerts.ts'
import { parseLog, readDatabases, readDeployedLog, readHealth } from './watch/sources.ts'
import { readConfig } from './wrangler/config.ts'

const USAGE = `npm run watch -- [URL] [--remote | --local [--persist-to DIR]] [--log FILE] [--mail ADDRESS]
  URL       of the service: asks /health
  --remote  deployed databases and, with CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID in the environment, the log
  --local   local databases
  --log     a file with what the service has logged in the last five minutes; - reads it from stdin
  --mail    also mails what is wrong, over SMTP_URL from MAIL_FROM
Prints what is wrong, and exits with 1 if anything is`

const { values: flags, positionals } = parseOptions(
  {
    options: { ...LOCATION_OPTIONS, log: { type: 'string' }, mail: { type: 'string' } } as const,
    allowPositionals: true,
  },
  USAGE,
)
const [url, ...others] = positionals
const { CLOUDFLARE_API_TOKEN: token, CLOUDFLARE_ACCOUNT_ID: account, SMTP_URL, MAIL_FROM } = process.env
const isUrl = url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')
if (others.length > 0 || !isUrl || (flags.local && flags.remote)) failWithUsage(USAGE)
if (flags.mail && !(SMTP_URL && MAIL_FROM)) failWithUsage(`${USAGE}\nSet SMTP_URL and MAIL_FROM, or leave out --mail`)

const location = flags.remote ? ['--remote'] : ['--local', '--persist-to', flags['persist-to']]
const readLog = (file: string) => (file === '-' ? text(process.stdin) : readFileSync(file, 'utf8'))
const sources: Sources = {
  ...(url && { health: () => readHealth(url) }),
  ...((flags.local || flags.remote) && { databases: () => readDatabases(location) }),
  ...(flags.remote &&
    token &&
    account && { log: () => readDeployedLog({ account, token, worker: readConfig().name }) }),
  ...(flags.log && { log: async () => parseLog(await readLog(flags.log ?? '')) }),
}
if (Object.keys(sources).length === 0) failWithUsage(USAGE)

const { problems, leftOut } = await evaluate(sources)
for (const problem of problems) printError(problem)
if (problems.length === 0) print('No alerts')
if (leftOut.length > 0) print(`Not looked at: ${leftOut.join(', ')}`)
if (flags.mail && problems.length > 0) {
  const body = problems.join('\n\n')
  const from = { name: 'Reading Library', email: MAIL_FROM ?? '' }
  const mail = { from, to: flags.mail, subject: problems[0]?.split(' (')[0] ?? '', text: body }
  await createMailer(SMTP_URL)(mail).catch((error: Error) => printError(`Not mailed: ${error.message}`))
}
process.exit(problems.length > 0 ? 1 : 0)
