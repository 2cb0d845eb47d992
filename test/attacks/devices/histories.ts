// Random histories of three devices with clashing documents, replays in any order, and a member who links, reads, deletes and
// restores, each of which must end as in a plain model.
//   FROM=93 HISTORIES=94 npm run attack -- devices --seed 7      # only history 70093
import { runHistory } from '../../support/devices/histories'
import type { Reached } from '../../support/devices/model'
import { insertMemberAt } from '../../support/home'
import { claimsOf, signClaims } from '../../support/tokens'
import { type Attack, concurrently } from '../harness/attack'
import { newEmail } from '../harness/members'
import { JWT_SECRET } from '../harness/service'

/** Each has a service, because a history moves the clock. */
const LANES = 2
/** Histories of a full run. */
const MOST = 5000
const MAX_FAILURES = 20
/** Histories move the clock by years. */
const LAST_SECOND = Date.UTC(2100) / 1000

export const compareHistories: Attack = async ({ quick, seed, progress, start }) => {
  const { FROM = '0', HISTORIES } = process.env
  const total = Number(HISTORIES ?? (quick ? 8 : MOST))
  const failures: string[] = []
  const reached: Reached = {}
  let done = 0
  await concurrently(LANES, async (lane) => {
    const unlimited = { writesPerMinute: 1e9, uploadsPerMinute: 1e9, vars: { LOG_SAMPLE_RATE: '0.01' } }
    const service = await start({ entry: 'test/attacks/workers/clocked.ts', slots: 2, ...unlimited })
    const pass = async (ms: number) => {
      const { body } = await service.request({ method: 'POST', path: '/', headers: `X-Pass: ${ms}\r\n` })
      return Number(body)
    }
    // The clock of the triggers cannot be moved: it must be behind.
    await pass(3_600_000)
    for (let n = Number(FROM) + lane; n < total && failures.length < MAX_FAILURES; n += LANES) {
      const home = { ...service, slot: n % 2, database: service.databases[n % 2] ?? service.database }
      const member = await insertMemberAt(home, JWT_SECRET, newEmail())
      const token = await signClaims({ ...claimsOf(member.token), exp: LAST_SECOND }, JWT_SECRET)
      const send = (method: string, path: string, as: string, body?: object) =>
        service.request({ method, path, token: as, ...(body && { body: JSON.stringify(body) }) })
      await runHistory({ send, token, pass }, seed * MOST + n, reached).catch((error: Error) => {
        failures.push(error.message)
        progress(error.message)
      })
      if (++done % 100 === 0) progress(`${done} of ${total} histories, ${failures.length} problems`)
    }
    failures.push(...(await service.findMismatches()))
  })
  return {
    figures: [
      ['random histories of three devices and their member', done, `${failures.length} problems`],
      ...Object.entries(reached).map(([rule, count]): [string, number, string] => [rule, count, 'in them']),
    ],
    failures,
  }
}
