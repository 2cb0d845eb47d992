// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import * as trials from '../../support/access/isolation'
import { BASE, handle, login, signUp, tokenOf } from '../../support/api'
import { measure, memberDatabase, select } from '../../support/database'
import { idOperations, type Operation } from '../../support/document/operations'
import { UNLIMITED } from '../../support/rate-limits'
import { takeSnapshot } from '../../support/stores'

const api: trials.Api = {
  signUp,
  logIn: async (email, password) => ({ email, token: tokenOf(await login(email, password)) }),
  secret: env.JWT_SECRET ?? '',
  request: async ({ method, path, authorization, type = 'application/json', body }) => {
    const headers = new Headers({ 'Content-Type': type })
    if (authorization !== undefined) headers.set('Authorization', authorization)
    const response = await handle(new Request(BASE + path, { method, headers, body }), UNLIMITED)
    return { status: response.status, headers: response.headers, text: await response.text() }
  },
}

type Callers = Partial<trials.Isolation>
/** Leaves out the callers without a valid token. */
const OTHER_MEMBERS: Callers = { unauthenticated: [] }
const SLOW = { tags: ['slow'] }
/** Of the operations, some are also tried without a valid token: guard.test.ts refuses such requests to all of them. */
const sampledOperations = idOperations.filter((_, n) => n % 8 === env.SEED % 8)

let isolation: trials.Isolation
beforeAll(async () => {
  isolation = await trials.prepareIsolation(api)
})

describe('another member’s books and memos', () => {
  const tryOperation = async (operation: Operation, callers: Callers) => {
    const before = await takeSnapshot([memberDatabase()])
    const { compared, failures } = await trials.tryOnOthersData(api, { ...isolation, ...callers }, operation)
    expect(failures).toEqual([])
    expect(compared).toBeGreaterThan(0)
    expect(await takeSnapshot([memberDatabase()])).toBe(before)
  }
  it.each(idOperations)('do not exist for another member: $method $template', async (operation) => {
    await tryOperation(operation, OTHER_MEMBERS)
  })
  it.each(sampledOperations)('do not exist for any caller: $method $template', SLOW, async (operation) => {
    await tryOperation(operation, {})
  })

  it('appear in no view of other members', async () => {
    const { views, failures } = await trials.readViews(api, isolation)
    expect(failures).toEqual([])
    expect(views).toBeGreaterThanOrEqual(6)
  })

  it('cannot be moved or changed by requests that also name the caller’s own', async () => {
    expect((await trials.mixParents(api, isolation, memberDatabase())).failures).toEqual([])
  })
})

describe('a refused request', () => {
  beforeAll(async () => {
    // After a minute, the service asks the database again about an ended credential.
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    await select(trials.fillBook(isolation.ids.bookId, isolation.owner.memberId))
  })
  afterAll(() => void vi.useRealTimers())

  const compareCosts = async (operation: Operation, callers: Callers) => {
    for (const { name, existing, absent } of trials.comparableRequests({ ...isolation, ...callers }, operation)) {
      const cost = await measure(() => api.request(existing))
      for (const request of absent) expect(await measure(() => api.request(request)), name).toEqual(cost)
      expect(cost.calls, name).toBeLessThanOrEqual(1)
      expect(cost.written, name).toBe(0)
    }
  }
  it.each(idOperations)('of another member reads no rows of the owner: $method $template', async (operation) => {
    await compareCosts(operation, OTHER_MEMBERS)
  })
  it.each(sampledOperations)('of any caller reads no rows of the owner: $method $template', SLOW, async (operation) => {
    await compareCosts(operation, {})
  })
})
