// Every other kind of caller tries to reach one member's data, over sockets.

import * as trials from '../../support/access/isolation'
import { idOperations } from '../../support/document/operations'
import { insertMemberAt } from '../../support/home'
import { takeSnapshot } from '../../support/stores'
import type { Attack } from '../harness/attack'
import { toLines } from '../harness/client'
import { logIn, newEmail, signUp } from '../harness/members'
import { JWT_SECRET, type Service } from '../harness/service'

const homeInSlot0 = ({ directory, addressKey }: Service) => ({ slot: 0, database: directory, directory, addressKey })

export const toApi = (service: Service): trials.Api => ({
  signUp: () => signUp(service),
  logIn: (email, password) => logIn(service, email, password),
  ...(service.slot > 0 && { createElsewhere: () => insertMemberAt(homeInSlot0(service), JWT_SECRET, newEmail()) }),
  secret: JWT_SECRET,
  request: async ({ authorization, ...request }) => {
    const headers = toLines(authorization === undefined ? [] : [['Authorization', authorization]])
    const response = await service.request({ ...request, headers })
    return { ...response, text: response.bytes.toString('latin1') }
  },
})

const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** Times a stranger's requests for a book full of large memos, and for one that does not exist, in turns. */
const compareTimes = async (
  service: Service,
  api: trials.Api,
  { ids, stranger, owner }: trials.Isolation,
  pairs: number,
) => {
  await service.database.prepare(trials.fillBook(ids.bookId, owner.memberId)).run()
  const time = async (bookId: string) => {
    const start = performance.now()
    const path = `/books/${bookId}/memos?memoType=ALL&page=1&size=1000`
    await api.request({ method: 'GET', path, authorization: `Bearer ${stranger.token}` })
    return performance.now() - start
  }
  const [full, absent]: [number[], number[]] = [[], []]
  for (let n = 0; n < pairs; n++) {
    full.push(await time(ids.bookId))
    absent.push(await time('999999'))
  }
  return median(full) / median(absent)
}
const MAX_RATIO = 2

export const isolation: Attack = async ({ quick, seed, progress, start }) => {
  const service = await start()
  const api = toApi(service)
  const prepared = await trials.prepareIsolation(api)
  const before = await takeSnapshot(service.databases)
  const failures: string[] = []
  let [compared, refused] = [0, 0]
  const tried = quick ? idOperations.filter((_, n) => n % 24 === seed % 24) : idOperations
  for (const operation of tried) {
    progress(`${operation.method} ${operation.template}`)
    for (const trial of prepared.fromElsewhere ? [prepared, prepared.fromElsewhere] : [prepared]) {
      const outcome = await trials.tryOnOthersData(api, trial, operation)
      compared += outcome.compared
      refused += outcome.refused
      failures.push(...outcome.failures)
    }
  }
  const differences = failures.length
  progress('other operations, views and mixed ids')
  for (const operation of trials.otherOperations) {
    failures.push(...(await trials.tryUnauthenticated(api, prepared, operation)))
  }
  if ((await takeSnapshot(service.databases)) !== before) failures.push('a refused request changed the database')
  const unauthenticated = failures.length - differences
  const views = await trials.readViews(api, prepared)
  const mixed = await trials.mixParents(api, prepared, service.database)
  const pairs = quick ? 5 : 100
  const ratio = await compareTimes(service, api, prepared, pairs)
  if (!quick && ratio > MAX_RATIO)
    failures.push(`a 404 for a full book takes ${ratio.toFixed(1)} times as long as for an absent one`)
  const what = "responses for another member's data and for absent data"
  const ownersData = mixed.isUnchanged ? 'owner’s data unchanged' : 'data changed'
  const otherResult = unauthenticated === 0 ? 'refused with 401' : `${unauthenticated} failures`
  const callers = prepared.unauthenticated.length + prepared.others.length
  return {
    figures: [
      [`${what}, ${tried.length} operations, ${callers} callers`, compared, `${differences} differ or disclose`],
      ['of these, refused with the expected status', refused, ownersData],
      ['other operations without a valid token', trials.otherOperations.length, otherResult],
      ["requests that mix own ids with another member's", mixed.requests, `${mixed.moved} memos moved`],
      [
        '404s for a book with 130 memos of 60 KB and for an absent one',
        2 * pairs,
        `ratio of the medians ${ratio.toFixed(2)}`,
      ],
      ['views read as another member', views.views, `${views.failures.length} disclose data`],
    ],
    failures: [...failures, ...views.failures, ...mixed.failures],
  }
}
