// What each endpoint costs at the database, by D1's own count, in a library of 100 books and in one of 100,000.

import { type Answer, type Ask, ask } from '../support/http-client.ts'
import { type Endpoint, endpoints, expectAnswers } from './endpoints.ts'
import type { Shelf } from './seed.ts'

export type Cost = { calls: number; read: number; written: number }
export type RowCost = {
  name: string
  calls: number
  read: [small: number, large: number]
  written: number
  grows?: string
}

const costOf = ({ head }: Answer): Cost => {
  const told = (name: string) => Number(new RegExp(`\r\n${name}: (\\d+)`, 'i').exec(head)?.[1] ?? Number.NaN)
  return { calls: told('X-D1-Calls'), read: told('X-Rows-Read'), written: told('X-Rows-Written') }
}

const measure = async (url: URL, request: Ask, status: number) => {
  const answer = await ask(url, request)
  if (answer.status !== status)
    throw new Error(`${request.path}: ${answer.status} instead of ${status}: ${answer.body}`)
  return costOf(answer)
}

const compare = async (url: URL, endpoint: Endpoint, small: Shelf, large: Shelf): Promise<RowCost> => {
  const [few, many] = [await ask(url, endpoint.ask(small, 1)), await ask(url, endpoint.ask(large, 1))]
  for (const answer of [few, many]) expectAnswers(endpoint)(answer)
  const [inFew, inMany] = [costOf(few), costOf(many)]
  return {
    name: endpoint.name,
    calls: Math.max(inFew.calls, inMany.calls),
    read: [inFew.read, inMany.read],
    written: Math.max(inFew.written, inMany.written),
    ...(endpoint.grows && { grows: endpoint.grows }),
  }
}

export const measureRows = async (url: URL, small: Shelf, large: Shelf) => {
  const costs: RowCost[] = []
  for (const endpoint of endpoints) costs.push(await compare(url, endpoint, small, large))
  return costs
}

const post = (path: string, body: unknown): Ask => ({ method: 'POST', path, body: JSON.stringify(body) })

/** What hashes a password between its calls: sign-up, login, and a password change. */
export const measureHashing = async (url: URL) => {
  const email = 'bench@example.com'
  const password = 'correct-horse-9'
  const joined = await measure(url, post('/join', { email, name: 'Bench', password, authenticationCode: '0' }), 201)
  const login = post('/login', { email, password })
  const loggedIn = await measure(url, login, 200)
  const token = /\r\nauthorization: Bearer (\S+)/i.exec((await ask(url, login)).head)?.[1] ?? ''
  const change = { method: 'PATCH', path: '/members/me', token, body: JSON.stringify({ password: `${password}9` }) }
  const changed = await measure(url, change, 200)
  return { 'sign-up': joined, login: loggedIn, 'password change': changed }
}

/** Withdrawing deletes what there is, so it comes last. */
export const measureWithdrawal = async (url: URL, small: Shelf, large: Shelf): Promise<RowCost> => {
  const withdraw = ({ token }: Shelf) => measure(url, { method: 'DELETE', path: '/members/me', token }, 204)
  const [inFew, inMany] = [await withdraw(small), await withdraw(large)]
  const read: [number, number] = [inFew.read, inMany.read]
  return { name: 'withdraw', calls: inMany.calls, read, written: inMany.written, grows: 'deletes all there is' }
}
