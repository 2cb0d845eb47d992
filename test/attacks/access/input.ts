// Fuzzed requests: every response must match the document, and a refused request must change nothing.
import { checkAgainstDocument } from '../../support/document/document'
import { isPage } from '../../support/document/operations'
import { type FuzzRequest, fuzzRequests } from '../../support/inputs/fuzz-requests'
import { takeSnapshot } from '../../support/stores'
import { type Attack, countStatuses, mapConcurrently } from '../harness/attack'
import { type Response, toLines } from '../harness/client'
import { insertMember, type Member, registerBook, signUp, writeMemo } from '../harness/members'
import type { Service } from '../harness/service'

const ROUND = 1_000
const CONCURRENCY = 16

const sendsToken = ({ headers, hasToken }: FuzzRequest) =>
  hasToken && !headers.some(([name]) => name === 'Authorization')

const send = (service: Service, { token }: Member, request: FuzzRequest) => {
  const { method, path, headers, type, body } = request
  return service.request({ method, path, type, body, headers: toLines(headers), ...(sendsToken(request) && { token }) })
}

const ENDS_SESSION = /^(?:DELETE \/members|POST \/logout|POST \/sessions)/

/** A separate member for a request that can end the session: the token of all later requests would be invalid. */
const callerOf = (service: Service, attacker: Member, request: FuzzRequest) =>
  sendsToken(request) && ENDS_SESSION.test(`${request.method} ${request.path}`) ? insertMember(service) : attacker

/** @throws Error if the document does not describe the response */
const checkResponse = ({ method, path }: FuzzRequest, { status, headers, body }: Response) => {
  if (status >= 500) throw new Error(`responded ${status}`)
  // A preflight is not an operation of the document.
  if (method === 'OPTIONS' && status === 204 && body === null) return
  if (!headers.has('X-Request-Id')) throw new Error('the response is not from the Worker')
  // Dot segments are resolved as in the Worker.
  const { pathname } = new URL(`http://localhost${path}`)
  if (isPage(pathname) && status < 400) return
  checkAgainstDocument(method, pathname, { status, headers, body })
}

const describe = ({ kind, method, path, body }: FuzzRequest) =>
  `${kind}: ${method} ${path.slice(0, 200)} ${body ? JSON.stringify(Buffer.from(body.subarray(0, 300)).toString('latin1')) : ''}`

export const input: Attack = async ({ quick, seed, progress, start }) => {
  const service = await start({ uploadsPerMinute: 1e9 })
  const bystander = await signUp(service)
  const otherBook = await registerBook(service, bystander)
  const otherMemo = await writeMemo(service, bystander, otherBook)
  const untouched = await takeSnapshot(service.databases, bystander.memberId)
  const [total, size] = quick ? [300, 300] : [100_000, ROUND]
  const failures: string[] = []
  const statuses: number[] = []
  const kinds = new Set<string>()
  let undocumented = 0
  let repeated = 0
  let changed = 0

  for (let round = 0; round * size < total; round++) {
    // A new member each round, so that the library stays small.
    const attacker = await signUp(service)
    const book = await registerBook(service, attacker, { bookStatus: 'ING', itemPage: 300 })
    const books = [book, otherBook, 999_999_999].map(String)
    const memos = [await writeMemo(service, attacker, book), otherMemo, 999_999_999].map(String)
    // The first reading of each of these books has the identifier of the book.
    const ids = { 'book-id': books, bookId: books, 'reading-id': books, 'memo-id': memos }
    const requests = fuzzRequests(ids, size, seed + round)
    const responses = await mapConcurrently(CONCURRENCY, requests, async (request) => {
      kinds.add(request.kind)
      try {
        const response = await send(service, await callerOf(service, attacker, request), request)
        statuses.push(response.status)
        checkResponse(request, response)
        return response
      } catch (error) {
        undocumented += 1
        failures.push(`${describe(request)}: ${String(error).slice(0, 300)}`)
        return undefined
      }
    })
    let refused = requests.filter((_, index) => (responses[index]?.status ?? 0) >= 400)
    for (;;) {
      const before = await takeSnapshot(service.databases)
      const again = await mapConcurrently(CONCURRENCY, refused, (request) => send(service, attacker, request))
      repeated += refused.length
      const refusedAgain = refused.filter((_, index) => (again[index]?.status ?? 0) >= 400)
      const areAllRefused = refusedAgain.length === refused.length
      if (areAllRefused && (await takeSnapshot(service.databases)) !== before) {
        changed += 1
        failures.push(`round ${round}: refused requests changed the database`)
      }
      if (areAllRefused) break
      // A login that was refused may succeed now that its account exists. The others are repeated.
      refused = refusedAgain
    }
    if (round % 10 === 9) progress(`${(round + 1) * ROUND} of ${total} requests`)
  }
  if ((await takeSnapshot(service.databases, bystander.memberId)) !== untouched) {
    failures.push('another member’s data was changed')
  }
  const serverErrors = statuses.filter((status) => status >= 500).length
  return {
    figures: [
      [`fuzzed requests, ${kinds.size} kinds`, total, `${serverErrors} × 5xx, ${undocumented} undocumented responses`],
      ['responses by status', total, countStatuses(statuses)],
      ['refused requests, sent again', repeated, `${changed} rounds changed the database`],
    ],
    failures,
  }
}
