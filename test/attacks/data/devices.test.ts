// @module-tag one-slot
// @module-tag slow
import { env } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'
import { newEmail, readerWith } from '../../support/api'
import { memberHome } from '../../support/database'
import { runHistory } from '../../support/devices/histories'
import type { Reached } from '../../support/devices/model'
import { insertMemberAt } from '../../support/home'
import { UNLIMITED } from '../../support/rate-limits'

afterEach(() => vi.useRealTimers())

const RULES = [
  ...[
    'replayed',
    'repeated',
    'linked by names',
    'several fit',
    'linked by hand',
    'none',
    'begun',
    'not begun',
    'not back',
  ],
  ...['undone events', 'undone links'],
  ...['event PROGRESS', 'event CORRECTION', 'event UNDATED', 'finished already', 'no number of pages'],
]

// `npm run attack -- devices` runs 5,000 histories.
it('20 random histories of three devices end as in a plain model', async () => {
  const reached: Reached = {}
  // The clock of the triggers does not stop: it must be behind.
  vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ['Date'] })
  const pass = (ms: number) => {
    vi.setSystemTime(Date.now() + ms)
    return Date.now()
  }
  for (let n = 0; n < 20; n++) {
    const { token } = await insertMemberAt(memberHome(), env.JWT_SECRET ?? '', newEmail())
    const send = (method: string, path: string, as: string, body?: object) =>
      readerWith('', as).send(method, path, { ...(body && { body }), changed: UNLIMITED })
    await runHistory({ send, token, pass }, 100 + n, reached)
  }
  expect(RULES.filter((rule) => !reached[rule])).toEqual([])
})
