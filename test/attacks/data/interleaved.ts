// Random histories of overlapping requests: some order of them, in a plain in-memory model, must give the same answers and state.
//   HISTORIES=200 npm run attack -- interleaved      # as many
// Imports and exports take no part: they make several database calls, between which others may come.
import { type History, runHistory } from '../../support/interleaved/histories'
import { type Attack, concurrently, countStatuses } from '../harness/attack'
import { connectTo } from './model'

/** Members at the same time. */
const LANES = 4
/** Histories of a full run. */
const MOST = 2000
/** Then the service is faulty, and further histories tell no more. */
const MAX_FAILURES = 20

export const interleaved: Attack = async ({ quick, seed, progress, start }) => {
  const { HISTORIES } = process.env
  const service = await start({ entry: 'test/attacks/workers/jittery.ts', writesPerMinute: 1e9 })
  const total = Number(HISTORIES ?? (quick ? 40 : MOST))
  const most = HISTORIES ? 1 : MAX_FAILURES
  const histories: History[] = []
  const failures: string[] = []
  await concurrently(LANES, async (lane) => {
    const connect = connectTo(service)
    for (let n = lane; n < total && failures.length < most; n += LANES) {
      const own = seed * MOST + n
      try {
        const history = await runHistory(await connect(), own)
        histories.push(history)
        if (history.problem) failures.push(`history ${own}: ${history.problem}`)
      } catch (error) {
        failures.push(`history ${own}, before the concurrent requests: ${error}`)
      }
      if (histories.length % 100 === 0) progress(`${histories.length} of ${total} histories`)
    }
  })
  const problems = failures.length
  failures.push(...(await service.findMismatches()))
  const calls = histories.flatMap((history) => history.calls)
  const count = (is: (history: History) => boolean) => histories.filter(is).length
  const overlapping = histories.reduce((sum, history) => sum + history.overlapping, 0)
  return {
    figures: [
      ['random histories of up to six clients', histories.length, `${problems} that no order explains`],
      ['concurrent requests in them', calls.length, countStatuses(calls.map(({ answer }) => answer.status))],
      ['requests that overlapped another one', overlapping, 'in them'],
      [
        'histories with several possible orders',
        count((history) => history.overlapping > 0),
        'as far as the times tell',
      ],
      ['histories that rule out the last of the possible orders', count(({ isDecided }) => isDecided), 'in them'],
      ['histories that rule out the order of sending', count(({ isInOrder }) => !isInOrder), 'another one found'],
      ['steps of the model', histories.reduce((sum, { steps }) => sum + steps, 0), 'in all searches'],
    ],
    failures,
  }
}
