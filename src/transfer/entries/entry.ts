import { fieldsOf } from '../../values/book-fields'
import {
  type BOOK_FORMATS,
  BOOK_STATUSES,
  type GOAL_METRICS,
  type MEMO_TYPES,
  type PROGRESS_KINDS,
  type READING_OUTCOMES,
} from '../../values/contract'

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
  'libib',
  'open-library',
  'book-catalogue',
  'calibre',
  'kindle',
  'kindle-notebook',
  'readwise',
  'readwise-api',
  'apple-books',
  'kobo',
  'libby',
  'douban-json',
  'koreader-json',
  'koreader-lua',
  'koreader-clippings',
  'csv',
] as const
export type FormatName = (typeof FORMATS)[number]

/** The file as a whole cannot be imported. The message is a sentence for the member who sent the file. */
export class ImportFileError extends Error {}

export const MAX_ROWS = 10_000
export const MAX_COLUMNS = 200
/** How many unknown columns an import lists, and how many characters of the name of any column it reports. */
export const MAX_UNKNOWN_COLUMNS = 200
export const MAX_COLUMN_NAME = 100

export const COLUMN_KINDS = ['STATUS', 'RATING', 'DATE'] as const
export type ColumnKind = (typeof COLUMN_KINDS)[number]
/** A column that is not read, although it looks like data of the member, with some of its values. */
export type UnreadColumn = { column: string; looksLike: ColumnKind; samples: string[] }
export const MAX_UNREAD_COLUMNS = 20
export const MAX_SAMPLES = 3
/** Characters of a sample. */
export const MAX_SAMPLE = 40

/** Why a row of a file failed, or what of it could not be kept. Clients may rely on the codes: they never change. */
export const REPORT_CODES = {
  'no-title': 'the row has no title',
  'bad-date': 'not a date, one that can be read in two ways, or a reading in the future',
  'partial-date': 'only a year or month is known',
  'unread-with-dates': 'the book is unread, so its readings were left out',
  'unknown-status': 'a reading status that is not known',
  'bad-isbn': 'not an ISBN, or its check digit is wrong',
  'spreadsheet-isbn': 'a spreadsheet turned the ISBN into a number: send the file as the service wrote it',
  'bad-identifier':
    'not an identifier of the service: a spreadsheet may have changed it, so send the file as the service wrote it',
  'bad-rating': 'not a rating, or of a scale that is not certain: the name of the column can say it, `Rating (1-10)`',
  'bad-number': 'not a number, or out of range',
  'bad-row': 'the row does not have the form of the format',
  'bad-bytes': 'bytes that are no text in the encoding of the file: U+FFFD stands for them',
  'short-row': 'the row has fewer cells than the header: the missing ones were read as empty',
  'rating-rounded': 'the rating was rounded',
  'rating-scaled': 'the ratings of the column go beyond five: this one was read as points of ten or of a hundred',
  'review-truncated': 'the text was too long, and was cut',
  'too-long': 'too long, and was cut',
  'made-private': 'public in the file: `keepVisibility=true` adds memos as they are there',
  'too-many': 'more than a book or member can have',
  'ambiguous-match': 'several books of the library could be meant',
  'possible-duplicate': 'created, although a similar book was there',
  'newer-here': 'the library has a later status',
  'text-kept':
    'the library keeps another text of an earlier import: it was edited here, is one of a column and the import has no `merge=overwrite`, or is a highlight beyond those of a book that one import replaces',
  'custom-shelf-needs-choice': 'the meaning of the shelf is not known: send `shelfMap`',
  'duplicate-in-file': 'an earlier row of the file is the same book',
  'merged-in-file': 'an earlier row of the file is the same book: what this one adds was added there',
  'not-supported': 'the service has no place for it',
  'empty-highlight': 'a highlight without text',
  'clipping-limit': 'the text is missing or cut off: the publisher limits how much can be exported',
  'repeated-text': 'the text is more than five times in the book, and was kept once',
  'replaced-highlight': 'an earlier version of an edited highlight',
  bookmark: 'a bookmark without text',
  quota: 'a limit is reached',
} as const
export type Code = keyof typeof REPORT_CODES

/** A value that was changed or dropped. */
export type Loss = {
  code: Code
  /** The column or property of the file. */
  field: string
  /** How many there are of this code, where each is not listed. */
  count?: number
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

/** `at`: UTC, with milliseconds. */
export type EntryProgress = { at: string; page: number; kind: (typeof PROGRESS_KINDS)[number] } & Partial<
  Record<'minutes' | 'seconds', number | null>
>

/** Times are yyyy-MM-ddTHH:mm:ss, without a zone. */
export type EntryMemo = {
  type: (typeof MEMO_TYPES)[number]
  content: string
  /** 0 if unknown. A location of an e-book is not a page. */
  page: number
  createdAt: string | null
  isPublic?: boolean
  updatedAt?: string
  /** The service and the column, if it has one text for each book: `goodreads my review`. */
  source?: string
  /** Identifies a highlight of the book, so that a later file can have another text for it. Begins with `#`. */
  key?: string
}

/** What an export of this service says of its member. Null or empty if it says nothing. */
export type EntryMember = {
  timeZone: string | null
  goals: { year: number; metric: (typeof GOAL_METRICS)[number]; target: number }[]
  /** What it says and cannot be stored, in whole or in part. */
  unread: string[]
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
  /** How long devices read the book, oldest day first. */
  sittings: { date: string; minutes: number }[]
}

/** The cells of a row as in the file. The rows of a table share one array of names; a short row has fewer values. */
export type Cells = { names: string[]; values: string[] }

/** What a shelf of the file can mean: a status, or a tag only. */
export const SHELF_MEANINGS = [...BOOK_STATUSES, 'STOPPED', 'PAUSED', 'TAG'] as const
export type Shelf = (typeof SHELF_MEANINGS)[number]
/** `columns`: names in the file, and the known names to read them by. */
export type ImportOptions = { shelfMap: Record<string, Shelf>; columns: Record<string, string> }

const DETAILS = fieldsOf('fill')
type OtherThanText = Record<'itemPage' | 'publishedYear' | 'seriesNumber' | 'seconds', number> & {
  format: (typeof BOOK_FORMATS)[number]
}
type Details = {
  [Field in (typeof DETAILS)[number]]: (Field extends keyof OtherThanText ? OtherThanText[Field] : string) | null
}
export const NO_DETAILS = Object.fromEntries(DETAILS.map((name) => [name, null])) as Details
const unknown = <Value>(): Value | null => null
const unknownText = unknown<string>

/** An entry to fill: a book, and what the file says about the member's copy of it. What the file lacks is null. */
export const emptyEntry = (line: number) => ({
  /** The line of the file where the row begins, counted from 1. In JSON, the number of the item. */
  line,
  title: unknownText(),
  ...NO_DETAILS,
  currentPage: unknown<number>(),
  /** Identifiers in services, such as `goodreads:123`. The first is that of the file's own service. */
  sourceIds: [] as string[],
  /** When the book was added there: yyyy-MM-dd or yyyy-MM-ddTHH:mm:ss. */
  addedAt: unknownText(),
  status: unknown<(typeof BOOK_STATUSES)[number]>(),
  /** The member's rating: 1 to 20 quarter stars. */
  quarters: unknown<number>(),
  /** Oldest first. The last one belongs to `status`. */
  readings: [] as EntryReading[],
  /** Unique regardless of case. */
  tags: [] as string[],
  memos: [] as EntryMemo[],
  losses: [] as Loss[],
  failure: unknown<Code>(),
  /** To correct and send again if the row fails. */
  cells: { names: [], values: [] } as Cells,
})
/** `exact`: only in exports of this service. All values of such an entry are stored as they are. */
export type Entry = ReturnType<typeof emptyEntry> & { exact?: ExactValues }
