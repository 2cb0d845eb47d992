// One member's data, tried by every other kind of caller over sockets.
import {
  type Api,
  mixParents,
  otherMemberOperations,
  prepareIsolation,
  readViews,
  tryOnOthersData,
  tryUnauthenticated,
} from '../support/isolation'
import { idOperations } from '../support/operations'
import { takeSnapshot } from '../support/snapshot'
import type { Attack } from './attack'
import { logIn, signUp } from './members'
import { JWT_SECRET, type Service } from './service'

const toApi = (service: Service): Api => ({
  signUp: () => signUp(service),
  logIn: (email, password) => logIn(service, email, password),
  secret: JWT_SECRET,
  request: async ({ authorization, ...request }) => {
    const headers = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`
    const { status, headers: received, bytes } = await service.request({ ...request, headers })
    return { status, headers: received, text: bytes.toString('latin1') }
  },
})

export const isolation: Attack = async ({ progress, start }) => {
  const service = await start()
  const api = toApi(service)
  const prepared = await prepareIsolation(api)
  const { memberId } = prepared.owner
  const before = await takeSnapshot(service.database)
  const failures: string[] = []
  let [compared, refused] = [0, 0]
  for (const operation of idOperations) {
    progress(`${operation.method} ${operation.template}`)
    const outcome = await tryOnOthersData(api, prepared, operation)
    compared += outcome.compared
    refused += outcome.refused
    failures.push(...outcome.failures)
  }
  for (const operation of otherMemberOperations) {
    progress(`${operation.method} ${operation.template}`)
    failures.push(...(await tryUnauthenticated(api, prepared, operation)))
  }
  if ((await takeSnapshot(service.database)) !== before) failures.push('a refused request changed the database')

  progress('views and mixed parents')
  const owned = await takeSnapshot(service.database, memberId)
  const views = await readViews(api, prepared)
  const mixed = await mixParents(api, prepared, service.database)
  const isUnchanged = (await takeSnapshot(service.database, memberId)) === owned
  if (!isUnchanged) failures.push('the owner’s data was changed')
  const callers = prepared.unauthenticated.length + 1
  return {
    figures: [
      [
        `responses for another member's data and for absent data, ${idOperations.length} operations, ${callers} callers`,
        compared,
        `${failures.length} differ or disclose`,
      ],
      ['of these, refused with the expected status', refused, isUnchanged ? 'owner’s data unchanged' : 'data changed'],
      ['other operations without a valid token', otherMemberOperations.length, 'refused with 401'],
      ['requests that name two parents', mixed.requests, `${mixed.moved} memos moved`],
      ['views read as another member', views.views, `${views.failures.length} disclose data`],
    ],
    failures: [...failures, ...views.failures, ...mixed.failures],
  }
}
