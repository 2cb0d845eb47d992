// A random library whose lists have what makes them wrong: all alphabets, missing values, and ties.
import assert from 'node:assert/strict'
import { BOOK_FORMATS, BOOK_STATUSES } from '../../../src/values/contract.ts'
import type { Draw } from '../sync/draw.ts'
import type { Load, ModelBook } from './model.ts'

const TITLES = [
  'Émile',
  'emile',
  'E\u0301mile',
  'Zorba',
  '데미안',
  '車輪の下',
  'Война и мир',
  'Ὀδύσσεια',
  'ألف ليلة',
  'İnce Memed',
]
const MORE_TITLES = ['ınce', '😀', '𝒜 Tale', '“Quoted”', '¿Qué?', '1Q84', 'straße', 'STRASSE', 'ﬁn', '%_\\', "'; --"]
const AUTHORS = ['한강', 'Ödön', 'O\u0308DÖN', 'Hermann Hesse', 'HERMANN HESSE', 'Толстой', ' ', null, null]
export const SERIES = ['Dune', 'DUNE', 'Étoile', 'étoile', '전집']
export const TAGS = ['Novel', 'Zen', '소설', 'Été', 'To "buy"', 'a,b']
export const ISBNS = ['9788936434120', '9780306406157', '9791162540640']
export const TERMS = ['mile', '데미', 'zorb', 'ss', 'hesse', 'book', '민음', 'sub', '"; --']
/** Times of progress, in milliseconds since 1970. */
export const TIMES = [Date.UTC(2019, 0, 1), Date.UTC(2024, 1, 29, 12), Date.UTC(2025, 11, 31, 23, 59, 59)]
const DAYS = ['2024-02-29', '2025-12-31', '2026-01-01']

export const createPick =
  (draw: Draw) =>
  <T>(list: readonly T[]): T =>
    list[draw(list.length)] as T

/** The values by which a list can filter, of which a book has any. */
const drawBook = (draw: Draw, at: number) => {
  const pick = createPick(draw)
  const bookStatus = pick(BOOK_STATUSES)
  const times = TIMES.filter(() => draw(3) === 0)
  const day = bookStatus === 'DONE' ? pick([null, ...DAYS]) : null
  const reading = { startedAt: null, finishedAt: day, outcome: bookStatus === 'DONE' ? 'FINISHED' : null }
  const stars = draw(6)
  const rated = { rating: stars || null, format: null, note: null, paused: false, createdAt: null }
  return {
    bookId: at + 1,
    // An import would merge books of the same title.
    title: `Book ${at}`,
    author: pick(AUTHORS),
    publisher: pick([null, '민음사', 'Sub Press']),
    subtitle: pick([null, null, 'a subtitle']),
    createdAt: '2026-01-01T00:00:00',
    bookStatus,
    currentPage: times.length,
    star: bookStatus === 'YET' ? 0 : stars,
    readEndDate: day && `${day}T21:30:00`,
    format: pick([null, ...BOOK_FORMATS]),
    series: pick([null, null, ...SERIES]),
    tags: TAGS.filter(() => draw(3) === 0),
    readings: bookStatus === 'YET' ? [] : [{ ...reading, ...rated }],
    progress: times.map((time, n) => ({ at: new Date(time).toISOString(), page: n + 1, kind: 'PROGRESS' })),
    memos: [],
  }
}

type Listed = ModelBook & Record<string, unknown>
/** All pages of the plain list, oldest first. */
const listAll = async (load: Load) => {
  const books: Listed[] = []
  for (let cursor = ''; ; ) {
    const { item, next } = await load('GET', `/books?sort=created&size=100${cursor}`)
    books.push(...item)
    if (next === null) return books
    cursor = `&cursor=${next}`
  }
}

/** Imports a random library, gives some of its books titles and ISBNs that others have, and returns a model of it. */
export const createShelf = async (load: Load, draw: Draw, size: number): Promise<ModelBook[]> => {
  const pick = createPick(draw)
  const drawn = Array.from({ length: size }, (_, at) => drawBook(draw, at))
  const file = { format: 'reading-library', version: 1, member: { timeZone: null }, goals: [], books: drawn }
  const { importId } = await load('POST', '/imports', file)
  for (let status = 'RUNNING'; status !== 'DONE'; ) {
    status = (await load('GET', `/imports/${importId}`)).status
    assert.notEqual(status, 'FAILED')
    if (status === 'RUNNING') await new Promise((done) => setTimeout(done, 5))
  }
  const listed = await listAll(load)
  assert.equal(listed.length, size)
  const books = listed.map((book): ModelBook => {
    const { subtitle, format, series, tags, progress } = drawn[Number(book.title.split(' ')[1])] ?? drawBook(draw, 0)
    const at = progress.at(-1)?.at
    return { ...book, subtitle, format, series, tags, isbn: null, activity: at === undefined ? null : Date.parse(at) }
  })
  for (const book of books) {
    if (draw(5) > 2) continue
    const changes = { title: pick([...TITLES, ...MORE_TITLES]), isbn: pick([null, ...ISBNS]) }
    await load('PATCH', `/books/${book.bookId}/edition`, changes)
    Object.assign(book, changes)
  }
  return books
}

/** Later than all times: what was done in this run, in order. */
const FIRST_STAMP = 8e12

/** Changes of a shelf, of one random book each. Each keeps the model up to date, and returns the book. */
export const createChanges = (load: Load, draw: Draw, books: ModelBook[]) => {
  const pick = createPick(draw)
  let changes = 0
  /** Awaited before each activity: two in the same millisecond would be a tie. */
  const stamp = async () => {
    await new Promise((done) => setTimeout(done, 2))
    return FIRST_STAMP + changes
  }
  const patch = async (book: ModelBook, change: Partial<ModelBook>, path = '') => {
    await load('PATCH', `/books/${book.bookId}${path}`, change)
    Object.assign(book, change)
  }
  const register = async () => {
    const [activity, bookStatus] = [await stamp(), pick(BOOK_STATUSES)]
    const sent = { title: pick(TITLES), author: pick(AUTHORS), publisher: null, bookStatus, readEndDate: null }
    const { bookId } = await load('POST', '/books', sent)
    const none = { subtitle: null, format: null, series: null, isbn: null, star: 0, tags: [] }
    books.push({ ...sent, ...none, bookId, activity: bookStatus === 'YET' ? null : activity })
  }
  const CHANGES: ((book: ModelBook) => Promise<unknown>)[] = [
    (book) => patch(book, { star: draw(6) }),
    (book) => patch(book, { author: pick(AUTHORS) }),
    (book) =>
      patch(book, { title: pick(TITLES), series: pick([null, ...SERIES]), format: pick(BOOK_FORMATS) }, '/edition'),
    async (book) => {
      const activity = await stamp()
      const bookStatus = pick(BOOK_STATUSES.filter((each) => each !== book.bookStatus))
      // Both are sent, because a new reading clears neither.
      await patch(book, { bookStatus, readEndDate: bookStatus === 'DONE' ? `${pick(DAYS)}T00:00:00` : null })
      book.activity = activity
    },
    async (book) => {
      const activity = await stamp()
      await load('POST', `/books/${book.bookId}/progress`, { page: 1 + draw(9) })
      if (book.bookStatus === 'YET') book.bookStatus = 'ING'
      book.activity = activity
    },
    async (book) => {
      // Of two events at the same time, the later one moves to the next millisecond.
      const at = pick(TIMES) + 1000 * (1 + changes)
      // A later page would begin an unread book, now.
      const page = book.bookStatus === 'YET' ? 0 : 1 + draw(9)
      await load('POST', `/books/${book.bookId}/progress`, { page, at: new Date(at).toISOString() })
      book.activity = Math.max(at, book.activity ?? 0)
    },
    async (book) => {
      const activity = await stamp()
      await load('POST', `/memos?bookId=${book.bookId}`, { memoBookPage: 1, memoContent: 'A memo' })
      book.activity = activity
    },
    async (book) => {
      book.tags = TAGS.filter(() => draw(3) === 0)
      await load('PUT', `/books/${book.bookId}/tags`, { tags: book.tags })
    },
    async (book) => {
      await load('DELETE', `/books/${book.bookId}`)
      books.splice(books.indexOf(book), 1)
    },
  ]
  return async () => {
    changes++
    if (books.length === 0) await register()
    const book = pick(books)
    await pick([register, ...CHANGES])(book)
    return book.bookId
  }
}
