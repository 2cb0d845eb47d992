import { openStores } from '../data/stores.ts'
import { toQuery } from '../slots/compare.ts'
import { confirmMarks, markSlots, recordKey } from '../slots/marks.ts'
import type { Slot } from '../slots/table.ts'
import { runWrangler } from './run.ts'

/** Marks local databases as those of their slots, and records the key of the directory. Returns the exit code. */
const markLocal = async (persistTo: string) => {
  const { slots, addressKey, dispose } = await openStores({ persistTo })
  const query = toQuery(slots)
  const { lost, unconfirmed } = await markSlots(
    query,
    slots.map(({ slot }) => slot),
  )
  for (const line of lost) console.error(line)
  await confirmMarks(query, unconfirmed)
  if (addressKey) await recordKey(query, addressKey, { replace: false })
  await dispose()
  return lost.length > 0 ? 1 : 0
}

/** Applies the migrations to local databases, one after the other, since they share files. Returns the exit code. */
export const migrateLocal = async (slots: Slot[], persistTo: string, config: string[]) => {
  for (const { binding } of slots) {
    const args = ['d1', 'migrations', 'apply', binding, '--local', '--persist-to', persistTo, ...config]
    const code = await runWrangler('ignore', ...args)
    if (code !== 0) return code
  }
  return slots.length > 1 ? markLocal(persistTo) : 0
}
