// `npm run db -- restore`: restores the dumps of a folder into new local data.
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { restoreFiles } from '../data/dump-files.ts'
import { failWithUsage, localPath, parseOptions } from '../data/stores.ts'
import { print, printError } from '../print.ts'
import { fail, readLocalSlots, writeLocalTable } from '../wrangler/config.ts'

const USAGE = 'npm run db -- restore FOLDER --persist-to NEW_FOLDER'

const options = { 'persist-to': { type: 'string' } } as const
const { values: flags, positionals } = parseOptions({ options, allowPositionals: true }, USAGE)
const [folder, ...others] = positionals
const persistTo = flags['persist-to']
if (!folder || !persistTo || others.length > 0) failWithUsage(USAGE)
if (existsSync(join(persistTo, 'v3', 'd1'))) fail(`${persistTo} has databases: choose another folder, or delete it`)

const names = existsSync(folder) ? readdirSync(folder) : []
const numbers = names.flatMap((name) => /^DB(?:_(\d+))?$/.exec(name)?.[0] ?? []).map((name) => Number(name.slice(3)))
if (!numbers.includes(0)) fail(`${join(folder, 'DB')} does not exist`)
writeLocalTable(persistTo, numbers)
const slots = readLocalSlots(persistTo)
for (const { binding } of slots) {
  const path = localPath(persistTo, binding)
  mkdirSync(dirname(path), { recursive: true })
  try {
    restoreFiles(join(folder, binding), path, (line) => printError(`${binding}: ${line}`))
  } catch (error) {
    fail(`${binding}: ${(error as Error).message}: delete ${persistTo}, which is incomplete`)
  }
}
print(`${persistTo}: ${slots.length === 1 ? 'one database' : `${slots.length} databases`} restored`)
