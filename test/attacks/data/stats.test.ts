// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { newEmail, readerWith, send } from '../../support/api'
import { memberDatabase, memberHome } from '../../support/database'
import { insertMemberAt } from '../../support/home'
import type { Send } from '../../support/model/run'
import { UNLIMITED } from '../../support/rate-limits'
import { compareStats } from '../../support/stats/compare'
import { nothingReached } from '../../support/stats/reading-time'

const connect = async (timeZone: string) => {
  const email = newEmail()
  const { token, memberId } = await insertMemberAt(memberHome(), env.JWT_SECRET ?? '', email)
  const member = readerWith(email, token, (method, path, options) =>
    send(method, path, { ...options, changed: { ...UNLIMITED, TIME_ZONE: timeZone } }),
  )
  const sendAsMember: Send = ({ method, path, body }) => member.send(method, path, { body })
  return { database: memberDatabase(), memberId, send: sendAsMember }
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
    const reached = nothingReached()
    for (let n = 0; n < libraries; n++) {
      const zone = n % 2 ? 'Europe/Berlin' : 'UTC'
      rows += (await compareStats(await connect(zone), 103 + n, zone, reached)).rows
    }
    expect(rows).toBeGreaterThan(8 * libraries)
    console.log('Cases of reading time:', reached)
    expect(Object.values(reached).filter(Boolean).length).toBeGreaterThan(libraries > 1 ? 6 : 0)
  })
}
