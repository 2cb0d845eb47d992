// `npm run db -- restore`: restores the dumps of a folder into new local data.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { failWithUsage } from '../data/stores.ts'
import { configFlags, readLocalSlots, writeLocalTable } from '../wrangler/config.ts'
import { runWrangler } from '../wrangler/run.ts'

const { values: flags, positionals } = parseArgs({
  options: { 'persist-to': { type: 'string' } },
  allowPositionals: true,
})
const [folder, ...others] = positionals
const persistTo = flags['persist-to']
if (!folder || !persistTo || others.length > 0) failWithUsage('npm run db -- restore FOLDER --persist-to NEW_FOLDER')
const fail = (message: string): never => {
  console.error(message)
  process.exit(1)
}
if (existsSync(join(persistTo, 'v3', 'd1'))) fail(`${persistTo} has databases: choose another folder, or delete it`)

const dumps = existsSync(folder) ? readdirSync(folder).map((file) => /^DB(?:_(\d+))?\.sql$/.exec(file)) : []
const numbers = dumps.filter((match) => match !== null).map(([, slot = '0']) => Number(slot))
if (!numbers.includes(0)) fail(`${join(folder, 'DB.sql')} does not exist`)
writeLocalTable(persistTo, numbers)
const slots = readLocalSlots(persistTo)
const config = configFlags(slots)
for (const { binding } of slots) {
  const file = ['--file', join(folder, `${binding}.sql`)]
  const code = await runWrangler(
    'ignore',
    'd1',
    'execute',
    binding,
    '--local',
    '--persist-to',
    persistTo,
    ...file,
    ...config,
  )
  if (code !== 0) process.exit(code)
}
console.log(`${persistTo}: ${slots.length === 1 ? 'one database' : `${slots.length} databases`} restored`)
process.exit(0)
