import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { type Reader, send, signUp } from '../support/api'
import { hasSameClaims, mutateToken, namedForgeries } from '../support/forgeries'
import { randomized } from '../support/randomized'

let attacker: Reader
let victim: Reader
beforeAll(async () => {
  attacker = await signUp()
  victim = await signUp()
})

const request = (headers: [string, string][], path = '/members/me') => {
  const all = new Headers()
  for (const [name, value] of headers) all.append(name, value)
  return send('GET', path, { headers: Object.fromEntries(all) })
}

it('rejects every known forgery', async () => {
  const forgeries = await namedForgeries(attacker.token, victim.token, env.JWT_SECRET ?? '')
  expect(forgeries.length).toBeGreaterThanOrEqual(100)
  for (const { name, headers, path, hasOwnClaims } of forgeries) {
    const { status, body } = await request(headers, path)
    if (!(hasOwnClaims && body.email === attacker.email)) expect(status, name).toBe(401)
  }
})

it(
  'rejects a valid token after any change to it',
  randomized(async (seed) => {
    for (const token of mutateToken(attacker.token, 400, seed)) {
      const { status, body } = await request([['Authorization', `Bearer ${token}`]])
      if (!(body.email === attacker.email && hasSameClaims(token, attacker.token))) expect(status, token).toBe(401)
    }
  }),
)
