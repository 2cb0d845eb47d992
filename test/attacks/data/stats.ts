// Statistics of random libraries, each of which must equal those that a plain model computes from the export.
import type { Send } from '../../support/model/run'
import { compareStats } from '../../support/stats/compare'
import { nothingReached } from '../../support/stats/reading-time'
import { type Attack, concurrently, type Figure } from '../harness/attack'
import { insertMember } from '../harness/members'

/** Of services: memos have the local times of theirs. */
const ZONES = ['UTC', 'Asia/Seoul', 'America/New_York', 'Europe/Berlin']

export const stats: Attack = async ({ quick, seed, progress, start }) => {
  const zones = quick ? ZONES.slice(2) : ZONES
  const perZone = quick ? 2 : 2000 / ZONES.length
  const failures: string[] = []
  const reached = nothingReached()
  const compared = { years: 0, rows: 0 }
  await concurrently(zones.length, async (lane) => {
    const zone = zones[lane] ?? 'UTC'
    const service = await start({ writesPerMinute: 1e9, uploadsPerMinute: 1e9, vars: { TIME_ZONE: zone } })
    for (let n = 0; n < perZone; n++) {
      const { token, memberId } = await insertMember(service)
      const send: Send = ({ method, path, body }) =>
        service.request({ method, path, token, ...(body !== undefined && { body: JSON.stringify(body) }) })
      const library = seed + lane * perZone + n
      try {
        const { years, rows } = await compareStats(
          { database: service.database, memberId, send },
          library,
          zone,
          reached,
        )
        compared.years += years
        compared.rows += rows
      } catch (error) {
        const failure = `library ${library}, service in ${zone}: ${error}`
        failures.push(failure)
        progress(failure)
      }
      if (n % 10 === 9) progress(`${n + 1} of ${perZone} libraries, service in ${zone}`)
    }
  })
  const missed = Object.entries(reached).flatMap(([name, count]) => (count > 0 || quick ? [] : name))
  if (missed.length > 0) failures.push(`never reached: ${missed.join(', ')}`)
  return {
    figures: [
      ['statistics of random libraries, compared with a model', perZone * zones.length, `${failures.length} differ`],
      ['years of them, all figures compared', compared.years, 'every figure'],
      ...Object.entries(reached).map(([name, count]): Figure => [`reading time: ${name}`, count, 'as in the model']),
      ['rows listed behind figures', compared.rows, 'exactly those counted'],
    ],
    failures,
  }
}
