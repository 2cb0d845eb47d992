import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { idRange } from '../../../src/db/next-id'
import * as trials from '../../support/access/isolation'
import { BASE, handle, newEmail } from '../../support/api'
import { idOperations } from '../../support/document/operations'
import { UNLIMITED } from '../../support/rate-limits'
import { DATABASES, migrateSlots, SLOTS } from '../../support/slots'
import { takeSnapshot } from '../../support/stores'
import { insertMemberRow, signToken } from '../../support/tokens'

const changed = {
  ...SLOTS,
  ...UNLIMITED,
}
const SECRET = env.JWT_SECRET ?? ''

const request: trials.Api['request'] = async ({ method, path, authorization, type = 'application/json', body }) => {
  const headers = new Headers({ 'Content-Type': type })
  if (authorization !== undefined) headers.set('Authorization', authorization)
  const response = await handle(new Request(BASE + path, { method, headers, body }), changed)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

let members = 0
const insertIn = async (slot: 0 | 1) => {
  const email = newEmail()
  const memberId = slot === 0 ? undefined : idRange(slot).idFloor + ++members
  const id = await insertMemberRow(slot === 0 ? DATABASES.DB : DATABASES.DB_1, email, '-', memberId)
  return { email, token: await signToken(id, SECRET, slot) }
}

beforeAll(migrateSlots)

describe.each([
  [0, 1],
  [1, 0],
] as const)('data of a member of slot %i, requested by a member of slot %i', (ownerSlot, strangerSlot) => {
  const database = ownerSlot === 0 ? DATABASES.DB : DATABASES.DB_1
  let isolation: trials.Isolation
  beforeAll(async () => {
    // The first two sessions are the owner's; all later members are in the other slot.
    const owner = await insertIn(ownerSlot)
    let isFirst = true
    const signUp = async () => {
      if (!isFirst) return insertIn(strangerSlot)
      isFirst = false
      return owner
    }
    const logIn = async () => owner
    isolation = await trials.prepareIsolation({ request, signUp, logIn, secret: SECRET })
    isolation.unauthenticated = isolation.unauthenticated.filter(({ name }) => !name.includes('password change'))
    // An isolate knows for a minute that a session has ended, and answers 401 before it validates the body.
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  })
  afterAll(() => void vi.useRealTimers())

  it.each(idOperations)('$method $template responds as if it did not exist', async (operation) => {
    const before = await takeSnapshot([database], isolation.owner.memberId)
    const api = { request } as trials.Api
    const { compared, failures } = await trials.tryOnOthersData(api, isolation, operation)
    expect(failures).toEqual([])
    expect(compared).toBeGreaterThan(0)
    expect(await takeSnapshot([database], isolation.owner.memberId)).toBe(before)
  })
})
