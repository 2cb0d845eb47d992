// Forged and mutated tokens: none may be accepted for anything but the attacker's own claims.
import { hasSameClaims, mutateToken, namedForgeries } from '../support/forgeries'
import { takeSnapshot } from '../support/snapshot'
import type { Attack } from './attack'
import type { Response } from './client'
import { signUp } from './members'
import { JWT_SECRET } from './service'

export const forgery: Attack = async ({ quick, seed, progress, start }) => {
  const service = await start()
  const [attacker, victim] = [await signUp(service), await signUp(service)]
  const before = await takeSnapshot(service.database)
  const failures: string[] = []
  const request = (headers: [string, string][], path = '/members/me') =>
    service.request({ method: 'GET', path, headers: headers.map(([name, value]) => `${name}: ${value}\r\n`).join('') })
  const isAttacker = ({ status, body }: Response) =>
    status === 200 && (body as { email?: string }).email === attacker.email

  const forgeries = await namedForgeries(attacker.token, victim.token, JWT_SECRET)
  progress(`${forgeries.length} known forgeries`)
  for (const { name, headers, path, hasOwnClaims } of forgeries) {
    const response = await request(headers, path)
    if (response.status === 401 || (hasOwnClaims && isAttacker(response))) continue
    failures.push(`${name}: ${response.status} ${JSON.stringify(response.body)}`)
  }
  const accepted = failures.length

  const mutated = mutateToken(attacker.token, quick ? 1_000 : 10_000, seed)
  let sameClaims = 0
  let otherClaims = 0
  for (const [index, token] of mutated.entries()) {
    if (index % 2_500 === 0) progress(`${index} of ${mutated.length} mutated tokens`)
    const response = await request([['Authorization', `Bearer ${token}`]])
    if (response.status === 401) continue
    if (isAttacker(response) && hasSameClaims(token, attacker.token)) {
      sameClaims += 1
      continue
    }
    otherClaims += 1
    failures.push(`mutated token: ${response.status} for ${token}`)
  }
  const unchanged = await request([['Authorization', `Bearer ${attacker.token}`]])
  if (!isAttacker(unchanged)) failures.push(`the unchanged token is refused: ${unchanged.status}`)
  if ((await takeSnapshot(service.database)) !== before) failures.push('a forged token changed the database')
  return {
    figures: [
      ['known JWT attacks', forgeries.length, `${accepted} accepted`],
      [
        'mutated tokens',
        mutated.length,
        `${otherClaims} accepted with other claims, ${sameClaims} with the same claims`,
      ],
    ],
    failures,
  }
}
