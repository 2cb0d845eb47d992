// Forged and mutated tokens: none may be accepted for anything but the attacker's own claims.
import { tryForgeries, tryMutations } from '../../support/access/forgeries'
import { takeSnapshot } from '../../support/stores'
import type { Attack } from '../harness/attack'
import { toLines } from '../harness/client'
import { signUp } from '../harness/members'
import { JWT_SECRET } from '../harness/service'

export const forgery: Attack = async ({ quick, seed, progress, start }) => {
  const service = await start()
  const [attacker, victim] = [await signUp(service), await signUp(service)]
  const before = await takeSnapshot(service.databases)
  const send = (headers: [string, string][], path = '/members/me') =>
    service.request({ method: 'GET', path, headers: toLines(headers) })

  progress('known forgeries')
  const known = await tryForgeries(send, attacker, victim.token, JWT_SECRET)
  const count = quick ? 100 : 10_000
  progress(`${count} mutated tokens`)
  const mutated = await tryMutations(send, attacker, count, seed)
  const failures = [...known.failures, ...mutated.failures]
  const { status } = await send([['Authorization', `Bearer ${attacker.token}`]])
  if (status !== 200) failures.push(`the unchanged token is refused: ${status}`)
  if ((await takeSnapshot(service.databases)) !== before) failures.push('a forged token changed the database')
  const accepted = `${mutated.failures.length} accepted with other claims, ${mutated.sameClaims} with the same claims`
  return {
    figures: [
      ['known JWT attacks', known.count, `${known.failures.length} accepted`],
      ['mutated tokens', count, accepted],
    ],
    failures,
  }
}
