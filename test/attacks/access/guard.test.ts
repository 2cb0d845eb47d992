import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { BASE, handle, newEmail, signUp } from '../../support/api'
import { measure, memberDatabase, memberHome, memberSlot } from '../../support/database'
import { addressOf, type Operation } from '../../support/document/operations'
import { insertMemberAt } from '../../support/home'
import { memberIdOf } from '../../support/images/images'
import { bodiesOf, type Credential, memberOperations, refusedCredentials } from '../../support/inputs/refused-requests'
import { unlimited } from '../../support/rate-limits'
import { insertSession } from '../../support/tokens'

const { SEED } = env as typeof env & { SEED: number }
const secret = env.JWT_SECRET ?? ''

/** The keys under which requests were charged to their callers. */
const charged: string[] = []
const recording = {
  limit: async ({ key }: RateLimitOptions) => {
    charged.push(key)
    return { success: true }
  },
} as RateLimit
const changed = {
  MEMBER_LIMIT: recording,
  SEARCH_LIMIT: recording,
  DEVICE_LIMIT: recording,
  WRITE_LIMIT: recording,
  CREDENTIAL_LIMIT: unlimited,
}

const countAttempts = async () => {
  const databases = [...new Set([env.DB, memberDatabase()])]
  const counts = databases.map((database) => database.prepare('select count(*) as n from attempts').first('n'))
  return (await Promise.all(counts)).join()
}

let credentials: Credential[]
beforeAll(async () => {
  const owner = await insertMemberAt(memberHome(), secret, newEmail())
  credentials = await refusedCredentials(memberHome(), owner, secret)
})

describe('a request without a valid credential', () => {
  const isSampled = (operation: Operation) => memberOperations.indexOf(operation) % 4 === SEED % 4
  const title = 'is refused by $method $template, and charged to no member'
  const isRefused = async (operation: Operation) => {
    const before = await countAttempts()
    charged.length = 0
    for (const credential of credentials) {
      for (const { name, type, body } of bodiesOf(operation, ['small', '17 KB'])) {
        const token = await credential.token(operation)
        const headers = { 'Content-Type': type, ...(token && { Authorization: `Bearer ${token}` }) }
        const content = operation.method === 'GET' ? undefined : body
        const request = new Request(BASE + addressOf(operation), { method: operation.method, headers, body: content })
        const { calls, written } = await measure(async () => {
          const { status } = await handle(request, changed)
          expect([400, 401, 403, 415], `${credential.name}, ${name}`).toContain(status)
        })
        expect(calls, `${credential.name}, ${name}`).toBeLessThanOrEqual(1)
        expect(written).toBe(0)
      }
    }
    expect(charged).toEqual([])
    expect(await countAttempts()).toBe(before)
  }
  it.each(memberOperations.filter(isSampled))(title, isRefused)
  // In another slot, a sample: the guard there differs only in its database.
  const others = memberSlot() === 0 ? memberOperations.filter((operation) => !isSampled(operation)) : []
  it.each(others)(title, { tags: ['slow'] }, isRefused)
})

describe('a large body', () => {
  const memo = (bookId: number, length: number, token: string) =>
    new Request(`${BASE}/memos?bookId=${bookId}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({ memoBookPage: 1, memoContent: 'x'.repeat(length) }),
    })

  it('takes a call of its own to confirm the caller, once a minute', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    const { token } = await insertSession(memberDatabase(), await memberIdOf(reader), secret, memberSlot())
    const costs = []
    for (let n = 0; n < 2; n++) {
      const cost = await measure(async () => expect((await handle(memo(bookId, 20_000, token))).status).toBe(201))
      costs.push(cost.calls)
    }
    expect(costs).toEqual([2, 1])
  })

  it('of an ended session that was confirmed a moment ago is refused by the write itself', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook()
    const other = await reader.logInAgain()
    expect((await other.get('/members/me')).status).toBe(200)
    expect((await reader.delete('/sessions')).status).toBe(204)
    expect((await handle(memo(bookId, 20_000, other.token))).status).toBe(401)
    expect((await reader.get(`/books/${bookId}/memos?page=1&size=10&memoType=ALL`)).body.item).toEqual([])
  })
})
