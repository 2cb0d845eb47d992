// D1 calls and rows of reading statistics that a device uploads.
import { statisticsFile } from '../../support/devices/statistics-file.ts'
import { sendExpecting } from '../endpoints/endpoints.ts'
import type { Library } from '../endpoints/seed.ts'
import { costOf, toRowCost } from './rows.ts'

const FIRST = Date.UTC(2025, 0, 1, 20) / 1000
/** So many days of half an hour, a page of five minutes after the other. */
const fileOf = (days: number) =>
  statisticsFile({
    ...{ title: 'Read', authors: 'Author' },
    rows: Array.from({ length: 6 * days }, (_, n) => ({
      ...{ page: n, start: FIRST + Math.floor(n / 6) * 86_400 + (n % 6) * 300, seconds: 300 },
    })),
  })

/** A device that has sent a hundred days of reading a book sends one more, and that again. */
export const measureReadingTime = async (url: URL, small: Library, large: Library) => {
  const measureIn = async ({ token, device }: Library) => {
    const send = async (days: number) => {
      const file = { method: 'PUT', path: '/dav/statistics.sqlite3', token: device, body: fileOf(days) }
      return costOf(await sendExpecting(url, file, 204))
    }
    const book = { method: 'POST', path: '/books', token, body: JSON.stringify({ title: 'Read', author: 'Author' }) }
    const { bookId } = JSON.parse((await sendExpecting(url, book, 201)).body)
    await send(100)
    const costs = { 'a day more of reading': await send(101), 'the same statistics again': await send(101) }
    const remove = { method: 'DELETE', path: `/books/${bookId}`, token }
    await sendExpecting(url, remove, 204)
    await sendExpecting(url, { ...remove, path: `/trash/book-${bookId}` }, 204)
    return costs
  }
  const [inSmall, inLarge] = [await measureIn(small), await measureIn(large)]
  return Object.entries(inSmall).map(([name, cost]) => toRowCost(name, cost, inLarge[name as keyof typeof inLarge]))
}
