// D1 calls and rows per endpoint, as D1 counts them, in libraries of 100 and 100,000 books.
import { type HttpRequest, type HttpResponse, sendRequest } from '../support/http-client.ts'
import { endpoints, sendExpecting } from './endpoints.ts'
import type { Library } from './seed.ts'

export type Cost = { calls: number; read: number; written: number }
export type RowCost = Omit<Cost, 'read'> & { name: string; read: [small: number, large: number]; grows?: string }

const costOf = ({ head }: HttpResponse): Cost => {
  const header = (name: string) => Number(new RegExp(`\r\n${name}: (\\d+)`, 'i').exec(head)?.[1] ?? Number.NaN)
  return { calls: header('X-D1-Calls'), read: header('X-Rows-Read'), written: header('X-Rows-Written') }
}

const measure = async (url: URL, request: HttpRequest, expected: number) =>
  costOf(await sendExpecting(url, request, expected))

const toRowCost = (name: string, inSmall: Cost, inLarge: Cost, grows?: string): RowCost => ({
  name,
  calls: Math.max(inSmall.calls, inLarge.calls),
  read: [inSmall.read, inLarge.read],
  written: Math.max(inSmall.written, inLarge.written),
  ...(grows && { grows }),
})

export const measureRows = async (url: URL, small: Library, large: Library) => {
  const costs: RowCost[] = []
  for (const { name, status, grows, toRequest } of endpoints) {
    const measureIn = (library: Library) => measure(url, toRequest(library, 1), status)
    costs.push(toRowCost(name, await measureIn(small), await measureIn(large), grows))
  }
  return costs
}

type SessionEndpoint = [name: string, status: number, method: string, path: string, library: Library]

/** The order matters: most of them end sessions. */
const sessionEndpoints = (library: Library): SessionEndpoint[] => [
  ['sessions', 200, 'GET', '/sessions', library],
  ['renew', 200, 'POST', '/sessions/renew', library],
  ['end session', 204, 'DELETE', `/sessions/${library.otherSession}`, library],
  ['log out', 204, 'POST', '/logout', { ...library, token: library.otherToken }],
  ['end other sessions', 204, 'DELETE', '/sessions', library],
  ['activity', 200, 'GET', '/members/me/activity', library],
]

/** Operations on ten sessions of each member, all but the current one of which end. */
export const measureSessions = async (url: URL, small: Library, large: Library) => {
  const measureIn = async (library: Library) => {
    const costs: Cost[] = []
    for (const [, status, method, path, { token }] of sessionEndpoints(library)) {
      costs.push(await measure(url, { method, path, token }, status))
    }
    return costs
  }
  const [inSmall, inLarge] = [await measureIn(small), await measureIn(large)]
  return sessionEndpoints(small).flatMap(([name], at) => {
    const [one, other] = [inSmall[at], inLarge[at]]
    return one && other ? [toRowCost(name, one, other)] : []
  })
}

const post = (path: string, body: unknown): HttpRequest => ({ method: 'POST', path, body: JSON.stringify(body) })

/** Operations that hash a password between their database calls. */
export const measureHashing = async (url: URL) => {
  const email = 'bench@example.com'
  const password = 'correct-horse-9'
  const joined = await measure(url, post('/join', { email, name: 'Bench', password, authenticationCode: '0' }), 201)
  const login = post('/login', { email, password })
  const loggedIn = await measure(url, login, 200)
  const token = /\r\nauthorization: Bearer (\S+)/i.exec((await sendRequest(url, login)).head)?.[1] ?? ''
  const change = { method: 'PATCH', path: '/members/me', token, body: JSON.stringify({ password: `${password}9` }) }
  const changed = await measure(url, change, 200)
  return { 'sign-up': joined, login: loggedIn, 'password change': changed }
}

/** Must come last, because it deletes the libraries. */
export const measureWithdrawal = async (url: URL, small: Library, large: Library): Promise<RowCost> => {
  const withdraw = ({ token }: Library) => measure(url, { method: 'DELETE', path: '/members/me', token }, 204)
  return toRowCost('withdraw', await withdraw(small), await withdraw(large))
}

/** The rows that each endpoint read and wrote before there were sessions: one more may be read, none more written. */
const ROWS_BEFORE_SESSIONS: Record<string, [read: number, written: number]> = {
  library: [22, 0],
  detail: [18, 0],
  memos: [39, 0],
  random: [5, 0],
  register: [9, 4],
  'memo creation': [19, 5],
  calender: [22, 0],
  'memo-books': [7, 0],
  abandon: [57, 0],
  'memos of a type': [12, 0],
  update: [5, 1],
  'created-date': [5, 2],
  'delete book': [7, 2],
  memo: [4, 0],
  'memo update': [11, 3],
  'delete memo': [15, 5],
  'image upload': [6, 4],
  profile: [1, 0],
  rename: [2, 1],
}
/** With ten sessions of the member. */
const ROWS_OF_SESSIONS: Record<string, [read: number, written: number]> = {
  sessions: [15, 0],
  renew: [5, 2],
  'end session': [15, 3],
  'log out': [15, 3],
  'end other sessions': [40, 10],
  activity: [10, 0],
  withdraw: [30, 8],
}

/** The target of an endpoint. */
export const maxRows = (name: string) => {
  const before = ROWS_BEFORE_SESSIONS[name]
  const [read, written] = before ? [before[0] + 1, before[1]] : (ROWS_OF_SESSIONS[name] ?? [])
  if (read === undefined || written === undefined) throw new Error(`${name} needs a target for its rows`)
  return { read, written }
}
