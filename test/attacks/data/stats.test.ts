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
const SAMPLES = [
  { libraries: 1, tags: [] },
  { libraries: 6, tags: ['slow'] },
]

for (const { libraries, tags } of SAMPLES) {
  const title = `counts what a plain model counts in the export of ${libraries} random libraries, and lists just that`
  it(title, { tags }, async () => {
    let rows = 0
    for (let n = 0; n < libraries; n++) {
      const zone = n % 2 ? 'Europe/Berlin' : 'UTC'
      rows += (await compareStats(await connect(zone), 103 + n, zone)).rows
    }
    expect(rows).toBeGreaterThan(8 * libraries)
  })
}
