// What `GET /changes` reads, what writes cost members who sync, and what a key costs.
import { toCursor } from '../../../src/values/cursor.ts'
import type { HttpRequest } from '../../support/service/http-client.ts'
import { contractEndpoints, sendExpecting } from '../endpoints/endpoints.ts'
import type { Library } from '../endpoints/seed.ts'
import { type Cost, costOf, type RowCost, toRowCost } from './rows.ts'

const SIZE = 100
/** The first page of the small library has books of all statuses, and so more readings. */
const GROWTH: Record<string, Pick<RowCost, 'grows' | 'ceiling'>> = {
  changes: { grows: 'has objects of other kinds on the page', ceiling: 1_250 },
}
/** The writes of the contract that change an object of the feed. */
const WRITES = ['register', 'memo creation', 'update', 'created-date', 'delete book', 'memo update', 'delete memo']
const writes = contractEndpoints.filter(({ name }) => WRITES.includes(name))
const creations = writes.filter(({ name }) => ['register', 'memo creation'].includes(name))
const deletions = writes.filter(({ name }) => name === 'delete book')

const decode = (cursor: string) => JSON.parse(Buffer.from(cursor, 'base64url').toString())

/** With books that no other part has changed, so that the rows are the same whichever parts ran before. */
const withUntouched = (library: Library): Library => {
  const [deleted = 0, changedBook = 0, deletedLater = 0] = library.spareBooks.slice(-4)
  return { ...library, changedBook, spareBooks: [deleted, deletedLater] }
}

const measureLibrary = async (url: URL, library: Library) => {
  const costs = new Map<string, Cost>()
  const measure = async (name: string, request: HttpRequest, status: number) => {
    const response = await sendExpecting(url, request, status)
    costs.set(name, costOf(response))
    return response.body
  }
  const pull = async (name: string, cursor?: string): Promise<string> => {
    const path = `/changes?size=${SIZE}${cursor ? `&cursor=${cursor}` : ''}`
    return JSON.parse(await measure(name, { method: 'GET', path, token: library.token }, 200)).next
  }
  const first = decode(await pull('changes'))
  const end = toCursor({ ...first, s: undefined })
  await pull('changes, deep', toCursor({ ...first, s: [5, library.changedMemo - SIZE / 2, 0] }))
  await pull('changes, idle', end)
  for (const { name, status, toRequest } of writes) await measure(`${name}, synced`, toRequest(library, 2), status)
  await pull('changes, delta', end)
  for (const { name, status, toRequest } of deletions) {
    const headers = `If-Unchanged-Since: ${end}\r\n`
    await measure(`${name}, unchanged since`, { ...toRequest(library, 2), headers }, status)
  }
  for (const { name, status, toRequest } of creations) {
    const headers = `Idempotency-Key: ${crypto.randomUUID()}\r\n`
    await measure(`${name} with a key, synced`, { ...toRequest(library, 3), headers }, status)
    await measure(`${name} with a key, repeated`, { ...toRequest(library, 3), headers }, status)
  }
  return costs
}

/** The log of changes of both members begins: what is measured later has its rows, too. */
export const measureSync = async (url: URL, small: Library, large: Library): Promise<RowCost[]> => {
  const inSmall = await measureLibrary(url, withUntouched(small))
  const inLarge = await measureLibrary(url, withUntouched(large))
  return [...inSmall].map(([name, cost]) => toRowCost(name, cost, inLarge.get(name) ?? cost, GROWTH[name]))
}
