// `npm run db -- COMMAND`: works on databases and the bucket, local or deployed.
import { argv, exit } from 'node:process'
import { print, printError } from './print.ts'
import { exitOnSignals } from './wrangler/run.ts'

const COMMANDS = {
  generate: 'writes a migration for the changes of tables and triggers in src/db (--name NAME)',
  migrate: 'applies the migrations to all local databases; `npm run deploy` does so to deployed ones',
  fill: 'runs a statement on every database in batches: what is too large for a migration',
  verify: 'checks the integrity of all databases, of the directory and of the bucket; `--repair` repairs what is safe',
  'time-migrations': 'applies the migrations to a large synthetic database and prints how long they take',
  slots: 'lists the slots with their sizes; `slots rebuild` rebuilds the directory',
}

const [command = ''] = argv.splice(2, 1)
if (!Object.hasOwn(COMMANDS, command)) {
  const isHelp = command === '--help' || command === '-h'
  const lines = Object.entries(COMMANDS).map(([name, what]) => `  ${name.padEnd(15)} ${what}`)
  const usage = ['Usage: npm run db -- COMMAND [OPTION …]', ...lines].join('\n')
  ;(isHelp ? print : printError)(usage)
  exit(isHelp ? 0 : 2)
}
exitOnSignals()
await import(`./db/${command}.ts`)
