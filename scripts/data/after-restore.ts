import type { R2Bucket } from '@cloudflare/workers-types'
import { hashAddress } from '../../src/auth/keyed-hash.ts'
import { toQuery } from '../slots/compare.ts'
import { isOtherKey, recordKey } from '../slots/marks.ts'
import { rebuildSlot } from '../slots/rebuild.ts'
import { skipIds } from '../slots/skip-ids.ts'
import { readMarks, repeatEntries, repeatMarks } from './marks.ts'
import type { OpenSlot } from './stores.ts'

/** `key`: ADDRESS_KEY. `isNewKey`: whether it replaces another one. */
type Stores = { slots: OpenSlot[]; bucket: R2Bucket; key: string; isNewKey: boolean; timeZone: string }

/** The directory and the slots may be of different times. A conflict is left to `verify`, which reports it. */
const rebuildDirectory = async ({ slots, key, isNewKey }: Stores) => {
  if (!isNewKey && (await isOtherKey(toQuery(slots), key))) return 0
  let changes = 0
  for (const { slot } of slots.slice(1)) {
    const { added, deleted } = await rebuildSlot(slots, slot, (email) => hashAddress(key, email))
    changes += added + deleted
  }
  if (isNewKey) await recordKey(toQuery(slots), key, { replace: true })
  return changes
}

/** `done`: how often something was repaired. `failed`: says what was not, and what to do. */
type Report = { done: (what: string, count: number) => void; failed: (line: string) => void }

/** Skips identifiers that were assigned since the backup of slots, repeats what marks say, and rebuilds the directory. */
export const repairRestored = async (stores: Stores, restored: OpenSlot[], { done, failed }: Report) => {
  const { slots, bucket, timeZone } = stores
  const marks = await readMarks(bucket, timeZone)
  for (const slot of restored) {
    await skipIds(slots, slot.slot)
    const help = `run \`npm run db -- verify --repair --after-restore ${slot.slot}\` once its cause is gone`
    const reportMark = (line: string) => failed(`${slot.binding}: ${line}: ${help}`)
    const repeated = await repeatMarks({ ...slot, bucket, timeZone }, marks, reportMark)
    for (const [what, count] of Object.entries(repeated)) done(`${slot.binding}: ${what}`, count)
  }
  done('entries of the log of operators added', await repeatEntries(slots, marks))
  if (slots.length > 1) done('entries of the directory rebuilt', await rebuildDirectory(stores))
}
