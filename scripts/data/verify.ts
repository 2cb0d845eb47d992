import { hashAddress } from '../../src/auth/keyed-hash.ts'
import { setAsideAgain } from '../members/block.ts'
import { printable } from '../print.ts'
import { compareSlot, describeDifference, toQuery } from '../slots/compare.ts'
import { findLost, isOtherKey, OTHER_KEY } from '../slots/marks.ts'
import { repairRestored } from './after-restore.ts'
import { CHECK_COUNT, findMismatches } from './integrity.ts'
import {
  addMissingRows,
  deleteImageRows,
  deleteObjects,
  deleteUnnamed,
  findOrphans,
  resetStatistics,
} from './objects.ts'
import { compareSchema } from './schema.ts'
import { type OpenSlot, type openStores, requireAddressKey } from './stores.ts'
import { addPurgeJobs } from './withdrawals.ts'

type Stores = Omit<Awaited<ReturnType<typeof openStores>>, 'dispose'>

type Options = {
  repair: boolean
  /** The slots whose databases were restored. */
  restored: OpenSlot[]
  /** Whether ADDRESS_KEY replaces that of the directory, which is lost. */
  isNewKey?: boolean
  /** How long an object may be without a row. */
  settleMs: number
  print: (line: string) => void
  progress: (line: string) => void
}

/**
 * Checks all databases, the directory and the bucket, and repairs what is safe. Returns whether all that is left
 * matches.
 */
export const verify = async (
  { slots, bucket, addressKey, settings }: Stores,
  { repair, restored, isNewKey = false, settleMs, print, progress }: Options,
) => {
  const timeZone = String(settings.TIME_ZONE || 'UTC')
  // Before anything is repaired.
  const key = slots.length > 1 ? requireAddressKey(addressKey) : ''
  let count = 0
  const report = (line: string) => {
    count += 1
    print(printable(line))
  }
  const reportAll = (lines: string[]) => {
    for (const line of lines) report(line)
  }
  const reportRepair = (what: string, repaired: number) => repaired > 0 && print(`${what}: ${repaired}`)

  const numbers = slots.map(({ slot }) => slot)
  const lost = await findLost(toQuery(slots), numbers)
  reportAll(lost)
  const isRepair = repair && lost.length === 0
  if (isRepair && restored.length > 0)
    await repairRestored({ slots, bucket, key, isNewKey, timeZone }, restored, { done: reportRepair, failed: report })
  for (const { slot, binding, database } of slots) {
    const prefix = slots.length > 1 ? `${binding}: ` : ''
    reportAll((await compareSchema(database)).map((line) => `${prefix}${line}`))
    if (isRepair) {
      reportRepair(`${prefix}purge jobs added`, await addPurgeJobs(database))
      reportRepair(`${prefix}sessions and access tokens of blocked members set aside`, await setAsideAgain(database))
    }
    const reportStep = (step: number) => progress(`${binding}: step ${step} checked`)
    const mismatches = await findMismatches(database, slot, { report: reportStep })
    for (const { table, id, field, expected, found } of mismatches)
      report(`${prefix}${table} ${id}: ${field} is ${found}, expected ${expected}`)
  }
  if (slots.length > 1 && (await isOtherKey(toQuery(slots), key))) report(OTHER_KEY)
  for (const { slot } of slots.slice(1))
    for await (const differences of compareSlot(slots, slot, (email) => hashAddress(key, email)))
      reportAll(differences.map((difference) => describeDifference(slot, difference)))

  const databases = slots.map(({ database }) => database)
  const progressOf = (checked: number) => progress(`${checked} objects checked`)
  if (isRepair) reportRepair('rows of images added', await addMissingRows(slots, bucket, timeZone, progressOf))
  const orphans = await findOrphans(databases, bucket, { progress: progressOf, settleMs })
  const isImage = (key: string) => key.startsWith('images/')
  const isStatistics = (key: string) => key.startsWith('statistics/')
  if (isRepair) {
    await deleteImageRows(databases, orphans.rows.filter(isImage))
    reportRepair('rows of missing images deleted', orphans.rows.filter(isImage).length)
    await resetStatistics(slots, bucket, orphans.rows.filter(isStatistics))
    reportRepair('lost objects of reading statistics, which count again', orphans.rows.filter(isStatistics).length)
  }
  if (isRepair) await deleteUnnamed(bucket, orphans.objects.filter(isStatistics))
  const others = orphans.objects.filter((key) => !isRepair || !isStatistics(key))
  const objects = isRepair ? await deleteObjects(restored, bucket, others) : others
  reportRepair('objects without a row deleted', orphans.objects.length - objects.length)
  reportAll(objects.map((key) => `${key}: object without a row`))
  reportAll(
    orphans.rows
      .filter((key) => !isRepair || !(isImage(key) || isStatistics(key)))
      .map((key) => `${key}: row without an object`),
  )

  const checks = [
    `${CHECK_COUNT + 2} checks of ${slots.length > 1 ? `each of ${slots.length} databases` : 'the database'}`,
    ...(slots.length > 1 ? ['one of the directory'] : []),
    'one of the bucket',
  ]
  const checked = new Intl.ListFormat('en').format(checks)
  print(`${checked}: ${count === 0 ? 'no mismatches' : `${count} mismatches`}`)
  return count === 0
}
