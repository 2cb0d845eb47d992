import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { newEmail, readerWith, send } from '../../support/api'
import { memberHome } from '../../support/database'
import { insertMemberAt } from '../../support/home'
import { UNLIMITED } from '../../support/rate-limits'
import { compareStats } from '../../support/stats/compare'

const connect = async (timeZone: string) => {
  const email = newEmail()
  const { token } = await insertMemberAt(memberHome(), env.JWT_SECRET ?? '', email)
  const member = readerWith(email, token, (method, path, options) =>
    send(method, path, { ...options, changed: { ...UNLIMITED, TIME_ZONE: timeZone } }),
  )
  return ({ method, path, body }: { method: string; path: string; body?: unknown }) =>
    member.send(method, path, { body })
}

/** `npm run attack -- stats` compares 2,000 libraries. */
const LIBRARIES = 6

it('counts what a plain model counts in the export of random libraries, and lists exactly those rows', async () => {
  let rows = 0
  for (let n = 0; n < LIBRARIES; n++) {
    const zone = n % 2 ? 'Europe/Berlin' : 'UTC'
    rows += (await compareStats(await connect(zone), 100 + n, zone)).rows
  }
  expect(rows).toBeGreaterThan(50)
}, 120_000)
