// Bad input: whatever is sent, the answer is one that the document describes, and what is refused changes nothing.
import { checkAgainstDocument } from '../support/document'
import { type Known, type OddRequest, oddRequests } from '../support/odd-requests'
import { isPage } from '../support/operations'
import type { Reply } from './client'
import { insertMember, type Member, registerBook, signUp, writeMemo } from './members'
import type { Part } from './part'
import type { Service } from './service'
import { digest } from './state'

const ROUND = 1_000
const AT_ONCE = 16

const explain = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 300)

const bears = ({ headers, hasToken }: OddRequest) => hasToken && !headers.some(([name]) => name === 'Authorization')

const send = (service: Service, { token }: Member, request: OddRequest) => {
  const { method, path, headers, type, body } = request
  return service.ask({
    method,
    path,
    type,
    ...(body && { body: Buffer.from(body) }),
    ...(bears(request) && { token }),
    headers: headers.map(([name, value]) => `${name}: ${value}\r\n`).join(''),
  })
}

/** Withdrawals are of somebody else each time: otherwise all that follows is refused for that alone. */
const callerOf = (service: Service, attacker: Member, request: OddRequest) =>
  bears(request) && request.method === 'DELETE' && request.path.startsWith('/members')
    ? insertMember(service)
    : attacker

/** Throws when the answer is none that the document has. */
const judge = ({ method, path }: OddRequest, { status, headers, body }: Reply) => {
  if (status >= 500) throw new Error(`answered ${status}`)
  // A preflight is answered for every address, and is no operation.
  if (method === 'OPTIONS' && status === 204 && body === null) return
  if (!headers.has('X-Request-Id')) throw new Error('not answered by the service')
  // As the Worker reads it: without dots that lead upwards.
  const { pathname } = new URL(`http://localhost${path}`)
  if (isPage(pathname) && status < 400) return
  checkAgainstDocument(method, pathname, { status, headers, body })
}

/** Runs so many at once; answers in the order of the items. */
const inTurns = async <Item, Result>(items: Item[], work: (item: Item) => Promise<Result>) => {
  const results: Result[] = []
  let next = 0
  const turn = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as Item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, turn))
  return results
}

const describe = ({ oddity, method, path, body }: OddRequest) =>
  `${oddity}: ${method} ${path.slice(0, 200)} ${body ? JSON.stringify(Buffer.from(body.subarray(0, 300)).toString('latin1')) : ''}`

export const input: Part = async ({ quick, seed, progress, start }) => {
  const service = await start({ uploads: 1e9 })
  const bystander = await signUp(service)
  const theirBook = await registerBook(service, bystander)
  const theirMemo = await writeMemo(service, bystander, theirBook)
  const untouched = await digest(service, bystander.memberId)
  const total = quick ? 5_000 : 100_000
  const failures: string[] = []
  const statuses: Record<number, number> = {}
  const oddities = new Set<string>()
  let undescribed = 0
  let failed = 0
  let refused = 0
  let changing = 0

  for (let round = 0; round * ROUND < total; round++) {
    // Each round somebody new, whose library stays small.
    const attacker = await signUp(service)
    const bookId = String(await registerBook(service, attacker))
    const known: Known = {
      'book-id': [bookId, String(theirBook), '999999999'],
      bookId: [bookId, String(theirBook), '999999999'],
      'memo-id': [String(await writeMemo(service, attacker, Number(bookId))), String(theirMemo), '999999999'],
    }
    const requests = oddRequests(known, ROUND, seed + round)
    const answers = await inTurns(requests, async (request) => {
      oddities.add(request.oddity)
      try {
        const reply = await send(service, await callerOf(service, attacker, request), request)
        statuses[reply.status] = (statuses[reply.status] ?? 0) + 1
        if (reply.status >= 500) failed += 1
        judge(request, reply)
        return reply
      } catch (error) {
        undescribed += 1
        failures.push(`${describe(request)}: ${explain(error)}`)
        return undefined
      }
    })
    const again = requests.filter((_, at) => (answers[at]?.status ?? 0) >= 400)
    const before = await digest(service)
    const replies = await inTurns(again, (request) => send(service, attacker, request))
    refused += again.length
    const isStillRefused = replies.every(({ status }) => status >= 400)
    if (isStillRefused && (await digest(service)) !== before) {
      changing += 1
      failures.push(`round ${round}: requests that were refused changed what is stored`)
    }
    if (!isStillRefused) progress(`round ${round}: a request is no longer refused`)
    if (round % 10 === 9) progress(`${(round + 1) * ROUND} of ${total} requests`)
  }
  if ((await digest(service, bystander.memberId)) !== untouched) failures.push('the bystander’s things were changed')
  const counted = Object.entries(statuses).map(([status, times]) => `${times} × ${status}`)
  return {
    figures: [
      {
        tried: `odd requests, ${oddities.size} kinds`,
        times: total,
        found: `${failed} × 5xx, ${undescribed} not as described`,
      },
      { tried: 'answers by status', times: total, found: counted.join(', ') },
      { tried: 'refused requests, sent again', times: refused, found: `${changing} rounds changed something` },
    ],
    failures,
  }
}
