// What each kind of token may do, over sockets: every operation of the document, and forged access tokens.
import { hashToken } from '../../../src/auth/access-token'
import { type Api, prepareAccess, tryCallers } from '../../support/access/access'
import { tryAccessForgeries } from '../../support/access/access-forgeries'
import { operations } from '../../support/document/operations'
import { takeSnapshot } from '../../support/stores'
import { insertAccessToken } from '../../support/tokens'
import type { Attack } from '../harness/attack'
import { insertMember } from '../harness/members'
import { JWT_SECRET, type Service } from '../harness/service'
import { toApi } from './isolation'

const countErrors = ({ lines }: Service) => lines.filter((line) => line.includes('"level":"error"')).length

export const access: Attack = async ({ quick, seed, progress, start }) => {
  const service = await start()
  const { request } = toApi(service)
  const { database, slot, databases } = service
  const api: Api = { request, insertMember: () => insertMember(service), database, slot, secret: JWT_SECRET }
  const failures: string[] = []

  const tried = quick ? operations.filter((_, n) => n % 50 === seed % 50) : operations
  progress(`${tried.length} operations with every kind of token`)
  const owner = await prepareAccess(api)
  let [cells, refused] = [0, 0]
  for (const operation of tried) {
    const outcome = await tryCallers(api, owner, operation)
    cells += outcome.cells
    refused += outcome.refused
    failures.push(...outcome.failures)
    if (operation.needsToken && !outcome.isAllowed)
      failures.push(`${operation.method} ${operation.template}: a session gets ${outcome.baseline}`)
  }
  const wrong = failures.length

  const count = quick ? 100 : 10_000
  progress(`${count} forged access tokens`)
  const token = await insertAccessToken(database, owner.memberId, ['library:write'], slot)
  service.secrets.add(token)
  const before = await takeSnapshot(databases)
  const forged = await tryAccessForgeries(api, token, await hashToken(token), { numRuns: count, seed })
  failures.push(...forged.failures)
  if ((await takeSnapshot(databases)) !== before) failures.push('a forged access token changed the database')
  const { status } = await request({
    method: 'POST',
    path: '/books',
    authorization: `Token ${token}`,
    body: '{"title":"x"}',
  })
  if (status !== 201) failures.push(`the unchanged access token is refused: ${status}`)
  const errors = countErrors(service)
  if (errors > 0) failures.push(`${errors} errors in the log`)
  return {
    figures: [
      [`operations × kinds of token, ${tried.length} operations`, cells, `${wrong} differ from the document`],
      ['of these, to be refused without a change', refused, `${errors} errors in the log`],
      [`forged access tokens of ${forged.kinds} kinds`, forged.count, `${forged.failures.length} accepted`],
    ],
    failures,
  }
}
