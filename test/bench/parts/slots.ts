// Members in several slots: how throughput grows with them, and how long a request takes from another region.

import { encode, median, sendAll } from '../../support/service/http-client.ts'
import { readMigrations } from '../../support/service/migrations.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { checkStatus, endpoints } from '../endpoints/endpoints.ts'
import { fillSlot, librariesOfSlots } from '../endpoints/seed.ts'
import { startWorkers } from '../workers.ts'
import { DISTANCES_MS, REGIONS, SERVICE_MS } from './slots-setup.ts'

const MEASURED = ['library', 'register']
const SLOTS = [1, 2, 4, 8]
/** Enough to keep a database busy. */
const CONNECTIONS_PER_SLOT = 4

/** `share`: the throughput divided by that of one slot and the number of slots. */
type Throughput = { name: string; slots: number; perSecond: number; share: number }
type Distance = { name: string; from: string; to: string; ms: number; p50: number }
export type SlotResults = { throughput: Throughput[]; distances: Distance[] }

const most = Math.max(...SLOTS)
const libraries = librariesOfSlots(most)
const measured = endpoints.filter(({ name }) => MEASURED.includes(name))

/** Sends requests of members of the first slots in turn. */
const load = (url: URL, endpoint: Endpoint, slots: number, perSlot: number) => {
  const requests = Array.from({ length: slots * perSlot }, (_, n) => {
    const library = libraries[n % slots]
    if (!library) throw new Error(`There is no slot ${n % slots}`)
    return encode(endpoint.toRequest(library, n))
  })
  return sendAll(url, requests, slots * CONNECTIONS_PER_SLOT, checkStatus(endpoint.name, endpoint.status))
}

const measureThroughput = async (url: URL, endpoint: Endpoint, rounds: number, perSlot: number) => {
  const fastest = SLOTS.map(() => 0)
  // The databases limit throughput. Other load on the machine only lowers it, so the fastest round counts.
  for (let round = 0; round < rounds; round++) {
    for (const [at, slots] of SLOTS.entries()) {
      const { perSecond } = await load(url, endpoint, slots, perSlot)
      fastest[at] = Math.max(fastest[at] ?? 0, perSecond)
    }
  }
  const [one = Number.NaN] = fastest
  return SLOTS.map((slots, at): Throughput => {
    const perSecond = fastest[at] ?? Number.NaN
    return { name: endpoint.name, slots, perSecond, share: perSecond / (one * slots) }
  })
}

const measureDistances = async (url: URL, endpoint: Endpoint, count: number) => {
  const measure = async (region: number, slot: number): Promise<Distance> => {
    const library = libraries[slot]
    if (!library) throw new Error(`There is no slot ${slot}`)
    const requests = Array.from({ length: count }, (_, n) =>
      encode({ ...endpoint.toRequest(library, n), headers: `X-Region: ${region}\r\n` }),
    )
    const { latencies } = await sendAll(url, requests, 1, checkStatus(endpoint.name, endpoint.status))
    const [from, to] = [REGIONS[region] ?? '', REGIONS[slot] ?? '']
    return { name: endpoint.name, from, to, ms: DISTANCES_MS[region]?.[slot] ?? Number.NaN, p50: median(latencies) }
  }
  const distances: Distance[] = []
  for (const region of REGIONS.keys()) {
    for (const slot of REGIONS.keys()) distances.push(await measure(region, slot))
  }
  return distances
}

export const measureSlots = async (isQuick: boolean, progress: (line: string) => void): Promise<SlotResults> => {
  const { urlOf, fill, stop } = await startWorkers(['queued', 'regions'], { slots: most })
  const results: SlotResults = { throughput: [], distances: [] }
  try {
    progress(`filling ${most} databases`)
    for (let slot = 0; slot < most; slot++) await fill([...readMigrations(), ...fillSlot(slot)], slot)
    for (const endpoint of measured) {
      progress(`timing ${endpoint.name} with ${SLOTS.join(', ')} slots, ${SERVICE_MS} ms a query`)
      // Compiles the code, and opens each database.
      await load(urlOf.queued, endpoint, most, 10)
      const [rounds, perSlot] = isQuick ? [1, 8] : [7, 120]
      results.throughput.push(...(await measureThroughput(urlOf.queued, endpoint, rounds, perSlot)))
      progress(`timing ${endpoint.name} from ${REGIONS.length} regions`)
      results.distances.push(...(await measureDistances(urlOf.regions, endpoint, isQuick ? 2 : 21)))
    }
    return results
  } finally {
    await stop()
  }
}
