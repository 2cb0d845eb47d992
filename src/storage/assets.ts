import { unavailable } from '../errors'
import { DEADLINES } from '../runtime/deadlines'
import { withTimeout } from '../runtime/retry'

/**
 * Reads a static file that only the Worker can read: scripts/assets.ts writes it. Such data is in no bundle, which each isolate
 * would load.
 * @throws UNAVAILABLE, with `what` in the log
 */
export const readAsset = (assets: Fetcher, name: string, what: string) =>
  withTimeout(DEADLINES.asset, async () => {
    const response = await assets.fetch(`https://assets.invalid/${name}`)
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    return new Uint8Array(await response.arrayBuffer())
  }).catch((error) => {
    throw unavailable(`${what}: ${error}`)
  })
