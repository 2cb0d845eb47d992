// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { createLinkSecret } from '../../../src/auth/access-token'
import type { LinkKind } from '../../../src/values/contract'
import { BASE, handle, newEmail } from '../../support/api'
import { memberHome, memberSlot } from '../../support/database'
import { insertMemberAt } from '../../support/home'
import { compareStates, type Send } from '../../support/links/states'
import { UNLIMITED } from '../../support/rate-limits'

const join = async () => (await insertMemberAt(memberHome(), env.JWT_SECRET ?? '', newEmail())).token
const send: Send = async (method, path, { token, body } = {}) => {
  const headers = {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(token && { Authorization: `Bearer ${token}` }),
  }
  const request = new Request(BASE + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const response = await handle(request, UNLIMITED)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** `npm run attack -- links` compares 5,000. */
const SAMPLES = [
  { states: 1, tags: [] },
  { states: 3, tags: ['slow'] },
]

for (const { states, tags } of SAMPLES) {
  it(`shows in every form what a plain model shows, in ${2 * states} states of two members`, { tags }, async () => {
    const never = (kind: LinkKind) => `/l/${createLinkSecret({ slot: memberSlot(), kind, variant: 0 })}`
    let forms = 0
    for (const seed of [1, 2])
      forms += (await compareStates(send, [await join(), await join()], seed, states, never)).forms
    expect(forms).toBeGreaterThan(16 * states)
  })
}
