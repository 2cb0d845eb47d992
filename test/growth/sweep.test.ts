// @module-tag slow
import { scheduler } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import type { Bindings } from '../../src/env'
import { sweep } from '../../src/sweep'
import { expectLinear } from '../support/runtime/growth'

vi.stubGlobal('scheduler', scheduler)

it('a sweep takes time in proportion to the slots', async () => {
  const statement = { bind: () => statement }
  const batch = async (statements: unknown[]) => statements.map(() => ({ results: [] }))
  const instant = { withSession: () => ({ prepare: () => statement, batch, getBookmark: () => null }) }
  const toDatabases = (slots: number) =>
    Object.fromEntries(Array.from({ length: slots }, (_, slot) => [slot ? `DB_${slot}` : 'DB', instant]))
  const lines: string[] = []
  vi.spyOn(console, 'info').mockImplementation((line) => lines.push(line))
  const env = {
    IMAGES: { list: async () => ({ objects: [], truncated: false }), delete: async () => {}, put: async () => {} },
    CATALOGUE: { put: async () => {} },
    ...{
      NETWORK_LIMIT: {},
      MEMBER_LIMIT: {},
      SEARCH_LIMIT: {},
      DEVICE_LIMIT: {},
      WRITE_LIMIT: {},
      CREDENTIAL_LIMIT: {},
    },
    VERSION: { id: 'growth' },
    JWT_SECRET: 'a secret of the tests only, which no deployment has',
    ADDRESS_KEY: 'a key of the tests only, which hashes the addresses',
  }
  // As many as a sweep visits. One sweep takes too little time to measure.
  await expectLinear(40, toDatabases, async (databases) => {
    for (let n = 0; n < 50; n++) await sweep({ ...env, ...databases } as unknown as Bindings)
  })
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ message: 'sweep', failures: 0 })
})
