import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { hashToken } from '../../../src/auth/access-token'
import { type Api, prepareAccess, tryCallers } from '../../support/access/access'
import { tryAccessForgeries } from '../../support/access/access-forgeries'
import { BASE, handle, newEmail } from '../../support/api'
import { memberDatabase, memberHome, memberSlot, select } from '../../support/database'
import { type Operation, operations } from '../../support/document/operations'
import { insertMemberAt } from '../../support/home'
import { unlimited } from '../../support/rate-limits'
import { takeSnapshot } from '../../support/stores'
import { insertAccessToken } from '../../support/tokens'

const { SEED } = env as typeof env & { SEED: number }
/** Whether `Headers` accepts a token without a warning. `npm run attack -- access` sends the others over a socket. */
const isSendable = (token: string) => /^[\x21-\x7e]*$/.test(token)

let requests = 0
const api: Api = {
  request: async ({ method, path, authorization = '', type = 'application/json', body }) => {
    requests += 1
    // Every hundred requests come from another network, to stay below its limits.
    const network = `10.1.${(requests / 100) >> 8}.${Math.floor(requests / 100) & 255}`
    const headers = { 'Content-Type': type, Authorization: authorization, 'CF-Connecting-IP': network }
    // One limit counts statistics, goals and counts of books together.
    const response = await handle(new Request(BASE + path, { method, headers, body }), { MEMBER_LIMIT: unlimited })
    return { status: response.status, headers: response.headers, text: await response.text() }
  },
  insertMember: () => insertMemberAt(memberHome(), env.JWT_SECRET ?? '', newEmail()),
  database: memberDatabase(),
  slot: memberSlot(),
  secret: env.JWT_SECRET ?? '',
}

let owner: Awaited<ReturnType<typeof prepareAccess>>
beforeAll(async () => {
  owner = await prepareAccess(api)
})
afterEach(async () => {
  // Lets work after responses finish, so that it does not pile up.
  await scheduler.wait(1)
  vi.restoreAllMocks()
})

/** In another slot, a third of them: the guard there differs only in its database. */
const tried = operations.filter((_, n) => memberSlot() === 0 || n % 3 === SEED % 3)
const isSampled = (operation: Operation) => operations.indexOf(operation) % 16 === SEED % 16

describe(`every kind of token (SEED=${SEED})`, () => {
  for (const operation of tried) {
    const { method, template } = operation
    const tags = isSampled(operation) ? [] : ['slow']
    it(`is allowed or refused by ${method} ${template} as documented`, { tags }, async () => {
      const error = vi.spyOn(console, 'error')
      const { cells, refused, isAllowed, baseline, failures } = await tryCallers(api, owner, operation)
      expect(failures).toEqual([])
      expect(cells).toBeGreaterThanOrEqual(14)
      expect(refused > 0).toBe(operation.needsToken)
      if (operation.needsToken) expect(isAllowed, `a session gets ${baseline}`).toBe(true)
      expect(error.mock.calls).toEqual([])
    })
  }
})

// `npm run attack -- access` tries 10,000.
it(`refuses forged access tokens (SEED=${SEED})`, async () => {
  const error = vi.spyOn(console, 'error')
  const token = await insertAccessToken(memberDatabase(), owner.memberId, ['library:write'], memberSlot())
  const before = await takeSnapshot([env.DB, memberDatabase()])
  const { kinds, failures } = await tryAccessForgeries(api, token, await hashToken(token), {
    numRuns: 100,
    seed: SEED,
    isSendable,
  })
  expect(failures).toEqual([])
  // Few look-alike characters can be sent in a header.
  expect(kinds).toBeGreaterThanOrEqual(12)
  expect(await takeSnapshot([env.DB, memberDatabase()])).toBe(before)
  expect(await select('select lastUsedDay from accessTokens where tokenHash = ?', await hashToken(token))).toEqual([
    { lastUsedDay: null },
  ])
  expect(error.mock.calls).toEqual([])
})
