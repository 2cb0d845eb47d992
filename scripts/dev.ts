// `npm run dev`: writes missing local variables to .dev.vars, applies the migrations, then runs `wrangler dev` with the
// given flags. `--slots N` starts with N local databases, which later runs keep.
import { randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, globSync, readFileSync } from 'node:fs'
import { parseArgs, parseEnv } from 'node:util'
import { exitOnHelp } from './options.ts'
import { exitUnless, requireFolder } from './paths.ts'
import { print } from './print.ts'
import { addLocalSlots, configFlags, readLocalSlots, withReader } from './wrangler/config.ts'
import { migrateLocal } from './wrangler/migrate-local.ts'
import { exitOnSignals, runWrangler } from './wrangler/run.ts'

exitOnHelp(`npm run dev -- [--slots N] [--persist-to DIR] [--var NAME:VALUE …] [OPTION …]
  serves with local data at http://localhost:8787; writes missing settings to .dev.vars, and applies the migrations
  --slots       spreads new data over N databases
  --persist-to  the folder of the data (default .wrangler/state)
  --var         a setting, for this run
  others        those of \`npx wrangler dev\``)

const VARS_FILE = '.dev.vars'
const LOCAL_VARS = {
  JWT_SECRET: randomBytes(48).toString('base64'),
  EMAIL_VERIFICATION: 'off',
  MAIL_FROM: 'library@example.com',
  CATALOGUE_PROVIDER: 'sample',
  LOG_SAMPLE_RATE: '1',
}
/** Needed only with several databases. */
const SLOTS_VARS = { ADDRESS_KEY: randomBytes(48).toString('base64') }

const MAILS = '.wrangler/tmp/email/**/*.txt'

/**
 * Prints mails sent locally: wrangler writes them to files and logs only the file names. It deletes the folders of
 * services that stop, so files are looked for instead of watched.
 */
const printMails = () => {
  const seen = new Set(globSync(MAILS))
  setInterval(() => {
    for (const file of globSync(MAILS).filter((file) => !seen.has(file))) {
      const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
      if (text === '') continue
      seen.add(file)
      print(text.replaceAll('\r\n', '\n'))
    }
  }, 250)
}

const leaveSignals = exitOnSignals()
const flags = process.argv.slice(2)
const text = { type: 'string' } as const
const { values, tokens } = parseArgs({
  args: flags,
  strict: false,
  tokens: true,
  options: { 'persist-to': text, slots: text },
})
const persistTo = typeof values['persist-to'] === 'string' ? values['persist-to'] : '.wrangler/state'
exitUnless(() => requireFolder(persistTo))
if (values.slots !== undefined) addLocalSlots(persistTo, Number(values.slots))
const slots = readLocalSlots(persistTo)

const existing = existsSync(VARS_FILE) ? readFileSync(VARS_FILE, 'utf8') : ''
const known = parseEnv(existing)
// The last line may lack a newline.
if (/[^\n]$/.test(existing)) appendFileSync(VARS_FILE, '\n')
for (const [name, value] of Object.entries(slots.length > 1 ? { ...LOCAL_VARS, ...SLOTS_VARS } : LOCAL_VARS)) {
  if (known[name]?.trim()) continue
  appendFileSync(VARS_FILE, `${name}=${value}\n`, { mode: 0o600 })
  print(`Wrote ${name} to ${VARS_FILE}`)
}

const slotsFlags = tokens
  .filter((token) => token.kind === 'option' && token.name === 'slots')
  .flatMap(({ index, ...token }) => ('inlineValue' in token && token.inlineValue ? [index] : [index, index + 1]))
const migrated = await migrateLocal(slots, persistTo)
if (migrated === 0) {
  printMails()
  print(
    "Three things in wrangler's output need no action: READER [not connected] (it runs in the same process), the warning\n" +
      "about scheduled Workers, and [undefined] in front of the service's request log.",
  )
}
const others = flags.filter((_, index) => !slotsFlags.includes(index))
// Wrangler ends first, and this process after it.
leaveSignals()
// Exit explicitly: the timer would keep this process alive.
process.exit(
  migrated === 0
    ? await runWrangler('inherit', 'dev', '--local', ...withReader(configFlags(slots)), ...others)
    : migrated,
)
