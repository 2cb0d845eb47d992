// A plain model of a member's library: arrays, and functions that a reader of the contract would write. It knows no SQL.
import type { Edition as EditionOfBook } from '../../../src/library/editions/responses'
import type {
  BOOK_STATUSES,
  MEMO_AUTHORITIES,
  MEMO_TYPES,
  PROGRESS_KINDS,
  READING_OUTCOMES,
} from '../../../src/values/contract'
import { toSortKey } from '../../../src/values/text/fold'

export type Status = (typeof BOOK_STATUSES)[number]
export type MemoType = (typeof MEMO_TYPES)[number]
export type Authority = (typeof MEMO_AUTHORITIES)[number]

/** A time that the clock of the service sets. Times in answers that are not before the run become it too. */
export const NOW = 'now'

export type Book = {
  bookId: number
  title: string
  cover: string | null
  author: string | null
  publisher: string | null
  createdAt: string
  star: number
  currentPage: number
  itemPage: number | null
  bookStatus: Status
  readStartDate: string | null
  readEndDate: string | null
}

export type Edition = Omit<EditionOfBook, 'bookId' | 'title' | 'cover'>

export const NO_EDITION: Edition = {
  subtitle: null,
  isbn: null,
  language: null,
  format: null,
  publishedYear: null,
  series: null,
  seriesNumber: null,
  seconds: null,
  sourceIds: [],
}

/** With a value in each field. */
export const SOME_EDITION = {
  subtitle: 'A Brief History',
  isbn: '9788936434120',
  language: 'pt-BR',
  format: 'EBOOK',
  publishedYear: 2014,
  series: '대하 소설',
  seriesNumber: 1.5,
  seconds: 34_200,
  sourceIds: ['goodreads:123', 'calibre:0e9f7a52'],
} satisfies Edition

export type Memo = {
  memoId: number
  bookId: number
  memoType: MemoType
  memoContent: string
  memoBookPage: number
  memoAuthority: Authority
  createdAt: string
  updatedAt: string
}

export type Reading = {
  readingId: number
  /** By the clock of the model; 0 for the first reading. */
  createdAt: number
  startedAt: string | null
  finishedAt: string | null
  outcome: (typeof READING_OUTCOMES)[number] | null
  quarters: number | null
  format: Edition['format']
  note: string | null
  paused: boolean
}

/** What refines the current reading, and what the book showed when the reading before left it. */
export type Own = Pick<Reading, 'readingId' | 'createdAt' | 'startedAt' | 'finishedAt' | 'quarters' | 'format'> &
  Pick<Reading, 'note' | 'paused'> & {
    isStopped: boolean
    /** Null if none of these are of the reading before. */
    archivedId: number | null
    archivedStart: string | null
    archivedEnd: string | null
    archivedStar: number | null
  }

/** `at`: milliseconds since 1970, or the clock of the model. */
export type ProgressEvent = { at: number; page: number; kind: (typeof PROGRESS_KINDS)[number] } & Record<
  'minutes' | 'seconds',
  number | null
>

/** Equal keys are the same tag. */
export type Tag = { key: string; tag: string }

/** What a merge changed, to take it back. */
export type Merged = {
  into: number
  /** With their versions. */
  memos: Map<number, string | undefined>
  /** The readings of the merged book. */
  readings: Reading[]
  /** The tags that the other one lacked. */
  tags: string[]
  /** The progress that the other one had. */
  events: ProgressEvent[]
  before: Target
  after: Target
}
/** The other book, its edition and readings. */
export type Target = { book: Book; edition: Edition; own: Own; readingIds: number[] }

/** What is in the trash. */
export type Trashed =
  | {
      trashId: string
      book: Book
      memos: Memo[]
      edition: Edition | undefined
      tags: Tag[]
      readings: Reading[]
      current: Own | undefined
      events: ProgressEvent[]
      merged?: Merged
    }
  | { trashId: string; memo: Memo; title: string }

export type Library = {
  books: Book[]
  memos: Memo[]
  /** By book. */
  editions: Map<number, Edition>
  /** The keys of a book's tags. */
  bookTags: Map<number, string[]>
  tags: Tag[]
  /** The past readings of a book. */
  readings: Map<number, Reading[]>
  /** What is known of the current reading of a book beyond what it shows. */
  current: Map<number, Own>
  events: Map<number, ProgressEvent[]>
  trash: Trashed[]
  clock: number
  /** Whether clocks are taken to be read before an event that took effect earlier, and whether one could have been. */
  isTied: boolean
  couldTie: boolean
  /** All versions that a memo has had. */
  versions: Map<number, string[]>
  /** What a creation with a key was, and what it created. */
  keys: Map<string, { sent: string; id: number }>
  /** With the spelling of the first of the books. */
  authors: { key: string; author: string }[]
  /** All identifiers ever used, in order of creation. */
  bookIds: number[]
  memoIds: number[]
  readingIds: number[]
}

/** When the clock of the model starts. */
export const RUN = Date.parse('2100-01-01')

export const createLibrary = (): Library => ({
  books: [],
  memos: [],
  editions: new Map(),
  bookTags: new Map(),
  tags: [],
  readings: new Map(),
  current: new Map(),
  events: new Map(),
  trash: [],
  clock: RUN,
  isTied: false,
  couldTie: false,
  versions: new Map(),
  keys: new Map(),
  authors: [],
  bookIds: [],
  memoIds: [],
  readingIds: [],
})

/** The next time of the model's clock, which is after all times that are sent. */
export const tick = (library: Library) => {
  library.clock += 1
  return library.clock
}

/**
 * The next time, unless it may be that of an event before: each request reads its own clock, and those that overlap may
 * take effect in another order.
 */
export const tickUnlessTied = (library: Library, latest = 0) => {
  if (latest < RUN) return tick(library)
  library.couldTie = true
  return library.isTied ? latest : tick(library)
}

/** When a reading begins. */
export const tickForReading = (library: Library, bookId: number) =>
  tickUnlessTied(library, Math.max(0, ...(library.events.get(bookId) ?? []).map(({ at }) => at)))

/** Checks that a new identifier is greater than all before, which `newest first` relies on, and remembers it. */
export const addId = (ids: number[], id: unknown) => {
  if (!Number.isSafeInteger(id) || Number(id) <= (ids.at(-1) ?? 0)) throw new Error(`${id} is not a new identifier`)
  ids.push(Number(id))
  return Number(id)
}

export const pick = <Item extends object, Name extends keyof Item>(item: Item, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, item[name]])) as Pick<Item, Name>

type Order<Item> = (item: Item) => string | number
/** Compares texts as SQLite and most databases do: by code point. */
const compare = (one: string | number, other: string | number) => {
  if (typeof one === 'number' || typeof other === 'number') return Number(one) - Number(other)
  const [a, b] = [[...one], [...other]]
  const at = a.findIndex((character, index) => character !== b[index])
  return at < 0 ? a.length - b.length : (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? -1)
}
export const ascending =
  <Item>(...orders: Order<Item>[]) =>
  (one: Item, other: Item) =>
    orders.reduce((sign, order) => sign || compare(order(one), order(other)), 0)
export const descending = <Item>(...orders: Order<Item>[]) => {
  const inOrder = ascending(...orders)
  return (one: Item, other: Item) => inOrder(other, one)
}

export const memosOf = ({ memos }: Library, bookId: number) => memos.filter((memo) => memo.bookId === bookId)

export const toMemo = ({ bookId: _, ...memo }: Memo) => ({ ...memo, memoLikesCount: 0 })

export const findBook = ({ books }: Library, bookId: number) => books.find((book) => book.bookId === bookId)

/**
 * Drops the authors and tags without books, adds an author whose first book this is, and respells an author whose only
 * book this is.
 * @param before the author of the book before the change
 */
export const settle = (library: Library, changed?: Book, before?: string | null) => {
  const keys = new Set(library.books.map(({ author }) => author && toSortKey(author)))
  library.authors = library.authors.filter(({ key }) => keys.has(key))
  const author = changed?.author
  if (author) {
    const known = library.authors.find(({ key }) => key === toSortKey(author))
    const books = library.books.filter((book) => book.author && toSortKey(book.author) === toSortKey(author))
    if (!known) library.authors.push({ key: toSortKey(author), author })
    else if (before && before !== author && toSortKey(before) === toSortKey(author) && books.length === 1)
      known.author = author
  }
  const used = new Set([...library.bookTags.values()].flat())
  library.tags = library.tags.filter(({ key }) => used.has(key))
}

export const deleteBook = (library: Library, bookId: number) => {
  library.books = library.books.filter((book) => book.bookId !== bookId)
  library.memos = library.memos.filter((memo) => memo.bookId !== bookId)
  library.editions.delete(bookId)
  library.bookTags.delete(bookId)
  library.readings.delete(bookId)
  library.current.delete(bookId)
  library.events.delete(bookId)
  settle(library)
}
