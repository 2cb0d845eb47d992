// Random filters and sorts of random libraries, each of which must list what a plain model lists.
import { compareLists, type Reached } from '../../support/lists/compare'
import type { Send } from '../../support/model/run'
import { type Attack, concurrently } from '../harness/attack'
import { insertMember } from '../harness/members'

/** More books than a page examines make short pages. */
const SIZES = [0, 1, 12, 60, 60, 60, 60, 1200]
const LANES = 2

export const lists: Attack = async ({ quick, seed, progress, start }) => {
  const libraries = quick ? 4 : 40
  const perLibrary = quick ? 20 : 250
  const service = await start({ writesPerMinute: 1e9, uploadsPerMinute: 1e9 })
  const failures: string[] = []
  const reached: Reached = new Map()
  await concurrently(LANES, async (lane) => {
    for (let n = lane; n < libraries; n += LANES) {
      const { token } = await insertMember(service)
      const send: Send = ({ method, path, body }) =>
        service.request({ method, path, token, ...(body !== undefined && { body: JSON.stringify(body) }) })
      try {
        await compareLists(send, seed + n, SIZES.at(-1 - (n % SIZES.length)) ?? 0, perLibrary, reached)
      } catch (error) {
        failures.push(String(error))
      }
      progress(`${n + 1} of ${libraries} libraries`)
    }
  })
  const figures = [...reached].toSorted().map(([name, times]): [string, number, string] => [name, times, ''])
  return {
    figures: [
      ['random lists of random libraries, compared with a model', libraries * perLibrary, `${failures.length} differ`],
      ...figures,
    ],
    failures,
  }
}
