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
