// `npm run members -- COMMAND`: what operators do with a member, in the databases of all slots, local or deployed.
import { argv, exit } from 'node:process'
import { DEADLINES } from '../src/runtime/deadlines.ts'
import { openStores } from './data/stores.ts'
import { readCommand, runCommand } from './members/run.ts'
import { describeError } from './paths.ts'
import { print, printError } from './print.ts'
import { exitOnSignals } from './wrangler/run.ts'

exitOnSignals()
const command = readCommand(argv.slice(2))
const { dispose, ...stores } = await openStores(command.location)
try {
  for (const line of await runCommand(command, stores, DEADLINES.storing)) print(line)
} catch (error) {
  printError(describeError(error))
  process.exitCode = 1
}
await dispose()
exit()
