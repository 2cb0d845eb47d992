// How long books were read, by random devices and by hand, and by a plain model.
import type { LibraryExport } from '../../../src/transfer/export/responses.ts'
import { sittingRows, TOKENS } from '../devices/sitting-rows.ts'
import type { Send } from '../model/run.ts'
import { localOf } from './local-time.ts'
import { createRandom, randomTime, TURNS, ZONES } from './random-library.ts'

type Book = LibraryExport['books'][number]
/** What a device read. `bookId`: of its document, at last. */
export type DeviceTime = { bookId: number | null; tokenId: string; day: string; seconds: number }
/** `tokenId`: null for minutes of events. */
export type DayTime = { bookId: number; date: string; seconds: number; tokenId: string | null }

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
export const toMinutes = (seconds: number) => (seconds === 0 ? 0 : Math.max(1, Math.floor(seconds / 60 + 0.5)))

/** The time of each book, day and device; on days of a book without devices, that of its events. */
export const modelTimes = (books: Book[], devices: DeviceTime[], zone: string) =>
  books.flatMap(({ bookId, progress }) => {
    const times = new Map<string, DayTime>()
    const add = (date: string, tokenId: string | null, seconds: number) => {
      const key = `${date} ${tokenId}`
      times.set(key, { bookId, date, tokenId, seconds: seconds + (times.get(key)?.seconds ?? 0) })
    }
    const read = devices.filter((device) => device.bookId === bookId)
    for (const { day, tokenId, seconds } of read) add(day, tokenId, seconds)
    for (const { at, kind, minutes } of progress) {
      const date = localOf(zone, Date.parse(at)).slice(0, 10)
      if (minutes && kind !== 'UNDATED' && !read.some(({ day }) => day === date)) add(date, null, 60 * minutes)
    }
    return [...times.values()]
  })

/** The answer of `GET /books/{book-id}/sittings`, in pages of any size. */
export const modelSittings = (times: DayTime[]) =>
  times
    .map(({ date, tokenId, seconds }) => ({
      ...{ date, minutes: toMinutes(seconds), source: tokenId && 'DEVICE', tokenId, tokenName: null },
    }))
    .sort((one, other) => {
      const [a, b] = [one, other].map(({ date, tokenId }) => date + (tokenId ?? ''))
      if (one.date !== other.date) return one.date < other.date ? 1 : -1
      return (a ?? '') < (b ?? '') ? -1 : 1
    })

/** The sittings of a book in the export. */
export const modelExported = (times: DayTime[]) =>
  [...Map.groupBy(times, ({ date }) => date)]
    .filter(([, ofDay]) => ofDay.every(({ tokenId }) => tokenId !== null))
    .map(([date, ofDay]) => ({ date, minutes: toMinutes(sum(ofDay.map(({ seconds }) => seconds))) }))
    .sort((one, other) => (one.date < other.date ? -1 : 1))

const CASES = [
  'within a second of midnight',
  'in an hour that occurs twice',
  'by two devices on a day',
  'linked before it was read',
  'linked after it was read',
  'linked to another book',
  'unlinked',
  'not linked',
  'minutes of an event alone',
  'minutes of an event beside a device',
  'zone changed',
] as const
/** How often each case was reached. */
export type Reached = Record<(typeof CASES)[number], number>
export const nothingReached = () => Object.fromEntries(CASES.map((name) => [name, 0])) as Reached

const HOUR = 3_600_000
const SECONDS = [1, 29, 30, 89, 90, 91, 600, 3600, 20_000]

/**
 * Lets two devices read the books of a member, links documents before and after that, or to another book, and may move
 * the member to another time zone.
 */
export const readAtRandom = async (
  { database, memberId, send }: { database: D1Database; memberId: number; send: Send },
  { books, zone, seed, now }: { books: Book[]; zone: string; seed: number; now: number },
  reached: Reached,
) => {
  // Not just the next seed: the first numbers of small seeds are alike.
  const { below, pick, some } = createRandom(seed * 1_000_003 + 2)
  const reach = (name: keyof Reached, isReached = true) => {
    if (isReached) reached[name]++
  }
  const link = async (document: string, bookId: number | null) => {
    const { status } = await send({ method: 'PUT', path: `/documents/${document}/book`, body: { bookId } })
    if (status !== 200) throw new Error(`link of a document: ${status}`)
  }
  const ids = books.map(({ bookId }) => bookId)
  const devices: DeviceTime[] = []
  const rows: D1PreparedStatement[] = []
  const links: [document: string, bookId: number | null][] = []
  let uploads = 0
  const documents = books.length === 0 ? 0 : below(2 * books.length + 2)
  for (let n = 0; n < documents; n++) {
    const document = `document-${n}`
    const first = pick([null, pick([null, ...ids]), pick([null, ...ids])])
    const last = pick([first, first, pick([null, ...ids])])
    const events = books.find(({ bookId }) => bookId === last)?.progress.map(({ at }) => Date.parse(at)) ?? []
    const start = () => {
      const any = randomTime(below, pick, now)
      const midnight = any - Date.parse(`1970-01-01${localOf(zone, any).slice(10)}Z`) - (any % 1000) + pick([0, -1000])
      const turn = pick(TURNS) + (below(9) - 4) * (HOUR / 4)
      return Math.min(now, pick([any, midnight, turn, pick([now, ...events])]))
    }
    const starts = some(8, start)
    for (const start of starts) {
      const local = localOf(zone, start)
      const [tokenId = '', day, seconds] = [pick(TOKENS.slice(0, 2)), local.slice(0, 10), pick(SECONDS)]
      const isSameDay = (other: DeviceTime) => other.bookId === last && other.day === day
      reach('within a second of midnight', /T(?:00:00:00|23:59:59)/.test(local))
      reach(
        'in an hour that occurs twice',
        [-HOUR, HOUR].some((turn) => localOf(zone, start + turn) === local),
      )
      reach(
        'by two devices on a day',
        devices.some((other) => isSameDay(other) && other.tokenId !== tokenId),
      )
      rows.push(...sittingRows(database, memberId, first, [{ document, tokenId, day, seconds, at: uploads++ }]))
      devices.push({ bookId: last, tokenId, day, seconds })
    }
    if (starts.length === 0) continue
    if (first !== last) links.push([document, last])
    if (first === last) reach(first === null ? 'not linked' : 'linked before it was read')
    else reach(first === null ? 'linked after it was read' : last === null ? 'unlinked' : 'linked to another book')
  }
  if (rows.length > 0) await database.batch(rows)
  for (const [document, bookId] of links) await link(document, bookId)
  const moved = pick([zone, zone, pick(ZONES)])
  if (moved !== zone) {
    const { status } = await send({ method: 'PATCH', path: '/members/me', body: { timeZone: moved } })
    if (status !== 200) throw new Error(`change of the time zone: ${status}`)
    reach('zone changed')
  }
  for (const { bookId, progress } of books) {
    for (const { at, kind, minutes } of progress) {
      const date = localOf(moved, Date.parse(at)).slice(0, 10)
      if (!minutes || kind === 'UNDATED') continue
      const isBeside = devices.some((device) => device.bookId === bookId && device.day === date)
      reach(isBeside ? 'minutes of an event beside a device' : 'minutes of an event alone')
    }
  }
  return { devices, zone: moved }
}
