// `npm run db -- verify`: runs the integrity checks and lists what does not match. Exits with 1 if anything does not.
// Objects in the bucket are checked locally only, since listing those of a deployment takes long.
import { parseArgs } from 'node:util'
import { hashAddress } from '../../src/auth/keyed-hash.ts'
import { CHECK_COUNT, findMismatches, findOrphans } from '../data/integrity.ts'
import { LOCATION_OPTIONS, openStores, readLocation, requireAddressKey } from '../data/stores.ts'
import { compareSlot, describeDifference, toQuery } from '../slots/compare.ts'
import { findLost, isOtherKey, OTHER_KEY } from '../slots/marks.ts'

const { values: flags } = parseArgs({ options: LOCATION_OPTIONS })
const location = readLocation(flags, 'npm run db -- verify --local [--persist-to DIR] | --remote')
const { slots, bucket, addressKey, dispose } = await openStores(location)

let count = 0
const report = (line: string) => {
  count += 1
  console.log(line)
}
for (const { slot, binding, database } of slots) {
  const prefix = slots.length > 1 ? `${binding}: ` : ''
  const options = { report: (done: number, steps: number) => console.error(`${binding}: step ${done} of ${steps}`) }
  for (const { table, id, field, expected, found } of await findMismatches(database, slot, options)) {
    report(`${prefix}${table} ${id}: ${field} is ${found}, expected ${expected}`)
  }
}
const numbers = slots.map(({ slot }) => slot)
for (const line of await findLost(toQuery(slots), numbers)) report(line)
if (slots.length > 1 && (await isOtherKey(toQuery(slots), requireAddressKey(addressKey)))) report(OTHER_KEY)
for (const { slot } of slots.slice(1)) {
  const hash = (email: string) => hashAddress(requireAddressKey(addressKey), email)
  for await (const differences of compareSlot(slots, slot, hash)) {
    for (const difference of differences) report(describeDifference(slot, difference))
  }
}
const databases = slots.map(({ database }) => database)
if (flags.local) for (const orphan of await findOrphans(databases, bucket)) report(orphan)
await dispose()

const checks = [
  `${CHECK_COUNT} checks of ${slots.length > 1 ? `each of ${slots.length} databases` : 'the database'}`,
  ...(slots.length > 1 ? ['one of the directory'] : []),
  ...(flags.local ? ['one of the bucket'] : []),
]
const checked = new Intl.ListFormat('en').format(checks)
console.log(`${checked}: ${count === 0 ? 'no mismatches' : `${count} mismatches`}`)
process.exit(count === 0 ? 0 : 1)
