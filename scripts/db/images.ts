// `npm run db -- images`: adds a row for each image in the bucket that has none, such as those uploaded before rows
// existed. Safe to repeat. Skips images of withdrawn members, and objects whose key is not that of an image.
import { parseArgs } from 'node:util'
import { addMissingRows } from '../data/image-rows.ts'
import { LOCATION_OPTIONS, openStores, readLocation } from '../data/stores.ts'

const { values: flags } = parseArgs({ options: LOCATION_OPTIONS })
const location = readLocation(flags, 'npm run db -- images --local [--persist-to DIR] | --remote')
const { slots, bucket, dispose } = await openStores(location)
const databases = slots.map(({ database }) => database)
const { added, checked } = await addMissingRows(databases, bucket, (count) => console.error(`${count} objects checked`))
await dispose()
console.log(`${checked} objects checked, ${added} rows added`)
process.exit(0)
