// Tokens that nobody was given: none may be taken for what it claims.
import { claimsTheSame, mutatedTokens, namedForgeries } from '../support/forgeries'
import type { Reply } from './client'
import { signUp } from './members'
import type { Part } from './part'
import { JWT_SECRET } from './service'
import { digest } from './state'

export const forgery: Part = async ({ quick, seed, progress, start }) => {
  const service = await start()
  const [attacker, victim] = [await signUp(service), await signUp(service)]
  const before = await digest(service)
  const failures: string[] = []
  const ask = (headers: [string, string][], path = '/members/me') =>
    service.ask({ method: 'GET', path, headers: headers.map(([name, value]) => `${name}: ${value}\r\n`).join('') })
  const isOwn = ({ status, body }: Reply) => status === 200 && (body as { email?: string }).email === attacker.email

  const named = await namedForgeries(attacker.token, victim.token, JWT_SECRET)
  progress(`${named.length} attacks by name`)
  let taken = 0
  for (const { name, headers, path, isSame } of named) {
    const answer = await ask(headers, path)
    if (answer.status === 401 || (isSame && isOwn(answer))) continue
    taken += 1
    failures.push(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }

  const mutated = mutatedTokens(attacker.token, quick ? 1_000 : 10_000, seed)
  let respelled = 0
  let changed = 0
  for (const [at, token] of mutated.entries()) {
    if (at % 2_500 === 0) progress(`${at} of ${mutated.length} mutated tokens`)
    const answer = await ask([['Authorization', `Bearer ${token}`]])
    if (answer.status === 401) continue
    if (isOwn(answer) && claimsTheSame(token, attacker.token)) {
      respelled += 1
      continue
    }
    changed += 1
    failures.push(`mutated token: ${answer.status} for ${token}`)
  }
  const good = await ask([['Authorization', `Bearer ${attacker.token}`]])
  if (!isOwn(good)) failures.push(`the token that all were made of is refused: ${good.status}`)
  if ((await digest(service)) !== before) failures.push('a forged token changed what is stored')
  return {
    figures: [
      { tried: 'JWT attacks by name', times: named.length, found: `${taken} taken` },
      {
        tried: 'mutated tokens',
        times: mutated.length,
        found: `${changed} taken with a changed claim, ${respelled} the same token spelled otherwise`,
      },
    ],
    failures,
  }
}
