import { DEADLINES } from '../../runtime/deadlines'
import { log } from '../../runtime/log'
import { withTimeout } from '../../runtime/retry'
import { HOUR_MS } from '../../values/time'

const KEY = 'sweep'
/** Sweeps are hourly, and KV may return a value that is a minute old. */
const LATE_MS = 3 * HOUR_MS

/** Records a sweep without failures. In KV, because one that deletes nothing would have nothing else to write. */
export const recordSweep = (kv: KVNamespace, at: number) =>
  withTimeout(DEADLINES.lastSweep, () => kv.put(KEY, String(at)))

/** When the last sweep without failures ended, in milliseconds; null if none has, undefined if KV does not answer. */
export const readLastSweep = async (kv: KVNamespace) => {
  try {
    const at = await withTimeout(DEADLINES.lastSweep, () => kv.get(KEY))
    return at === null ? null : Number(at)
  } catch (error) {
    log('warn', `last sweep: ${error}`)
    return undefined
  }
}

/** What is wrong although requests are served. */
export const describeSweep = (at: number | null | undefined) => {
  if (at === undefined) return ['KV does not answer: the time of the last sweep is unknown']
  return Date.now() - (at ?? 0) > LATE_MS ? ['No sweep has succeeded within the last three hours'] : []
}
