// `npm run db -- fill FILE`: runs a statement on every database, batch by batch, for changes that are too large for a
// migration. The service can keep running. Repeating it is safe if repeating the statement is.
import { readFileSync } from 'node:fs'
import { LOCATION_OPTIONS, type OpenSlot, openStores, readLocation } from '../data/stores.ts'
import { failWithUsage, parseOptions } from '../options.ts'
import { print, printError } from '../print.ts'

const USAGE = `npm run db -- fill FILE --local [--persist-to DIR] | --remote
  FILE  a statement that changes the rows after key ?1, in its order, up to a limit, and returns them with their key:
        CONTRIBUTING.md has an example. It is repeated with the last key, from 0 on, until it returns none`

/** Runs the statement until it returns no row, and returns how many there were. */
const fill = async ({ binding, database }: OpenSlot, statement: string) => {
  let [after, count] = [0, 0]
  for (;;) {
    const { results } = await database.prepare(statement).bind(after).all<{ key: number }>()
    if (results.length === 0) return count
    // D1 returns rows in any order.
    const last = results.reduce((highest, { key }) => Math.max(highest, key), 0)
    if (!(last > after)) throw new Error(`${binding}: the statement must return keys above ?1, as a column named key`)
    after = last
    count += results.length
    printError(`${binding}: ${count} rows, up to ${after}`)
  }
}

const { values: flags, positionals } = parseOptions({ options: LOCATION_OPTIONS, allowPositionals: true }, USAGE)
const [file, ...others] = positionals
if (!file || others.length > 0) failWithUsage(USAGE)
const location = readLocation(flags, USAGE)
try {
  const statement = readFileSync(file, 'utf8')
  const { slots, dispose } = await openStores(location)
  for (const slot of slots) print(`${slot.binding}: ${await fill(slot, statement)} rows`)
  await dispose()
  process.exit(0)
} catch (error) {
  printError((error as Error).message)
  process.exit(1)
}
