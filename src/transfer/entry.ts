import type { BOOK_FORMATS, BOOK_STATUSES, MEMO_TYPES, PROGRESS_KINDS, READING_OUTCOMES } from '../values/contract'
import type { REPORT_CODES } from './report-codes'

/** The formats of files that can be imported. */
export const FORMATS = [
  'library',
  'goodreads',
  'storygraph',
  'hardcover',
  'librarything',
  'librarything-json',
  'bookwyrm',
  'openreads',
  'booklogr',
  'jelu',
  'calibre',
  'kindle',
  'readwise',
  'koreader-json',
  'koreader-clippings',
  'csv',
] as const
export type FormatName = (typeof FORMATS)[number]

/** How many unknown columns an import lists, and how many characters of the name of any column it reports. */
export const MAX_UNKNOWN_COLUMNS = 50
export const MAX_COLUMN_NAME = 100

/** Why a row failed, or what of it could not be kept. */
export type Code = keyof typeof REPORT_CODES

/** A value that was changed or dropped. */
export type Loss = {
  code: Code
  /** The column or property of the file. */
  field: string
}

/** A date: yyyy, yyyy-MM or yyyy-MM-dd. */
export type PartialDate = string

export type EntryReading = {
  startedAt: PartialDate | null
  finishedAt: PartialDate | null
  outcome: (typeof READING_OUTCOMES)[number] | null
  /** 1 to 20 quarter stars. */
  quarters: number | null
  isPaused: boolean
  note: string | null
  format?: (typeof BOOK_FORMATS)[number] | null
  /** When the reading was added: UTC, with milliseconds. Null or absent for the first reading of a book. */
  createdAt?: string | null
}

export type EntryProgress = {
  /** UTC, with milliseconds. */
  at: string
  page: number
  kind: (typeof PROGRESS_KINDS)[number]
}

export type EntryMemo = {
  type: (typeof MEMO_TYPES)[number]
  content: string
  /** 0 if unknown. A location of an e-book is not a page. */
  page: number
  /** yyyy-MM-ddTHH:mm:ss, without a zone. */
  createdAt: string | null
  isPublic?: boolean
  /** yyyy-MM-ddTHH:mm:ss, without a zone. */
  updatedAt?: string
}

/** Values of a book that only an export of this service has. */
export type ExactValues = {
  /** The identifier of the book in the library that was exported. */
  bookId: number | null
  star: number
  /** yyyy-MM-ddTHH:mm:ss, like `readEndDate`. */
  readStartDate: string | null
  readEndDate: string | null
  /** Oldest first, no two at the same time. */
  progress: EntryProgress[]
}

/** The cells of a row as they are in the file. The rows of a table share one array of names. A short row has fewer values. */
export type Cells = { names: string[]; values: string[] }

/** A book, and what the file says about the member's copy of it. Nothing is invented: what the file lacks is null. */
export type Entry = {
  /** The line of the file where the row begins, counted from 1. In JSON, the number of the item. */
  line: number
  title: string | null
  author: string | null
  publisher: string | null
  cover: string | null
  pages: number | null
  currentPage: number | null
  /** ISBN-13, without hyphens, with a valid check digit. */
  isbn: string | null
  language: string | null
  format: (typeof BOOK_FORMATS)[number] | null
  publishedYear: number | null
  series: string | null
  seriesNumber: number | null
  /** Identifiers in the services that know the book, such as `goodreads:123`. The first is that of the file's own service. */
  sourceIds: string[]
  /** When the book was added there: yyyy-MM-dd or yyyy-MM-ddTHH:mm:ss. */
  addedAt: string | null
  status: (typeof BOOK_STATUSES)[number] | null
  /** The member's rating: 1 to 20 quarter stars. */
  quarters: number | null
  /** Oldest first. The last one belongs to `status`. */
  readings: EntryReading[]
  /** Unique regardless of case. */
  tags: string[]
  memos: EntryMemo[]
  /** Only in exports of this service. All values of such an entry are stored as they are. */
  exact?: ExactValues
  losses: Loss[]
  /** Why the row cannot be imported. */
  failure: Code | null
  /** To correct and send again if the row fails. */
  cells: Cells
}

/** What the member says about the file. */
export type ImportOptions = {
  /** The meaning of shelves, by their names: a status, `STOPPED`, `PAUSED`, or `TAG` for a tag only. */
  shelfMap: Record<string, (typeof BOOK_STATUSES)[number] | 'STOPPED' | 'PAUSED' | 'TAG'>
  /** For `csv`: the columns of the file, by field, such as `{ title: '책 이름' }`. */
  columns: Record<string, string>
}

/** The text of a file, with what it parses to. */
export type Source = {
  text: string
  /** Undefined unless the text is JSON. */
  json: unknown
  /** The rows of a table, with the line where each begins. The first is the header. Empty for JSON. */
  rows: { line: number; cells: string[] }[]
}

export type Format = {
  name: FormatName
  /** Whether the file has this format, by its content only. */
  matches: (source: Source) => boolean
  read: (source: Source, options: ImportOptions) => Entry[]
}

/** An entry without anything, to start from. */
export const emptyEntry = (line: number): Entry => ({
  line,
  title: null,
  author: null,
  publisher: null,
  cover: null,
  pages: null,
  currentPage: null,
  isbn: null,
  language: null,
  format: null,
  publishedYear: null,
  series: null,
  seriesNumber: null,
  sourceIds: [],
  addedAt: null,
  status: null,
  quarters: null,
  readings: [],
  tags: [],
  memos: [],
  losses: [],
  failure: null,
  cells: { names: [], values: [] },
})
