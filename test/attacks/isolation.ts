// Every other kind of caller tries to reach one member's data, over sockets.
import * as trials from '../support/isolation'
import { idOperations } from '../support/operations'
import { takeSnapshot } from '../support/stores'
import type { Attack } from './attack'
import { toLines } from './client'
import { logIn, signUp } from './members'
import { JWT_SECRET, type Service } from './service'

const toApi = (service: Service): trials.Api => ({
  signUp: () => signUp(service),
  logIn: (email, password) => logIn(service, email, password),
  secret: JWT_SECRET,
  request: async ({ authorization, ...request }) => {
    const headers = toLines(authorization === undefined ? [] : [['Authorization', authorization]])
    const response = await service.request({ ...request, headers })
    return { ...response, text: response.bytes.toString('latin1') }
  },
})

export const isolation: Attack = async ({ progress, start }) => {
  const service = await start()
  const api = toApi(service)
  const prepared = await trials.prepareIsolation(api)
  const before = await takeSnapshot(service.database)
  const failures: string[] = []
  let [compared, refused] = [0, 0]
  for (const operation of idOperations) {
    progress(`${operation.method} ${operation.template}`)
    const outcome = await trials.tryOnOthersData(api, prepared, operation)
    compared += outcome.compared
    refused += outcome.refused
    failures.push(...outcome.failures)
  }
  const differences = failures.length
  progress('other operations, views and mixed ids')
  for (const operation of trials.otherOperations) {
    failures.push(...(await trials.tryUnauthenticated(api, prepared, operation)))
  }
  if ((await takeSnapshot(service.database)) !== before) failures.push('a refused request changed the database')
  const unauthenticated = failures.length - differences
  const views = await trials.readViews(api, prepared)
  const mixed = await trials.mixParents(api, prepared, service.database)
  const what = "responses for another member's data and for absent data"
  const ownersData = mixed.isUnchanged ? 'owner’s data unchanged' : 'data changed'
  const otherResult = unauthenticated === 0 ? 'refused with 401' : `${unauthenticated} failures`
  const callers = prepared.unauthenticated.length + 1
  return {
    figures: [
      [`${what}, ${idOperations.length} operations, ${callers} callers`, compared, `${differences} differ or disclose`],
      ['of these, refused with the expected status', refused, ownersData],
      ['other operations without a valid token', trials.otherOperations.length, otherResult],
      ["requests that mix own ids with another member's", mixed.requests, `${mixed.moved} memos moved`],
      ['views read as another member', views.views, `${views.failures.length} disclose data`],
    ],
    failures: [...failures, ...views.failures, ...mixed.failures],
  }
}
