import * as z from 'zod/mini'
import { MAX_WHOLE_BYTES } from '../../db/parts'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { BOOK_FORMATS, MAX_COVER, MAX_NAME } from '../../values/contract'
import { MAX_CURSOR, MAX_LIST_SIZE } from '../../values/cursor'
import { BookFormat, Int32, int } from '../../values/fields'
import { named, namedObject } from '../../values/named'
import { listOf, listUpTo, textUpTo } from '../../values/responses'
import { BookParts, PART_DESCRIPTIONS } from '../books/list/responses'
import { LibraryBook, ListedBook } from '../books/responses'
import { MAX_EXCERPT } from '../books/schema'
import { MAX_SERIES_NUMBER } from '../editions/schema'
import { Memo, MemoOfBook } from '../memos/responses'
import { MAX_SEARCHED } from '../search/schema'
import { Tag } from '../tags/responses'
import { MAX_TAGS } from '../tags/schema'
import { MAX_COUNTED_SERIES, MAX_MISSING, MAX_NUMBERS, MAX_SHOWN_MEMOS } from './schema'

const Series = textUpTo(MAX_NAME)

export const BookCounts = namedObject('BookCounts', {
  statuses: namedObject('StatusCounts', { YET: Int32, ING: Int32, DONE: Int32 }),
  formats: listUpTo(BOOK_FORMATS.length, namedObject('FormatCount', { format: BookFormat, bookCount: Int32 })),
  ratings: listUpTo(5, namedObject('StarCount', { star: int(1, 5), bookCount: Int32 })),
  tags: listUpTo(MAX_TAGS, Tag),
  series: listUpTo(MAX_COUNTED_SERIES, namedObject('SeriesCount', { series: Series, bookCount: Int32 })),
  seriesCount: Int32,
})
export type BookCounts = z.infer<typeof BookCounts>

export const SeriesBook = named(
  'SeriesBook',
  z.extend(LibraryBook, { seriesNumber: z.nullable(z.number().check(z.minimum(0), z.maximum(MAX_SERIES_NUMBER))) }),
)
export type SeriesBook = z.infer<typeof SeriesBook>

const SeriesPage = namedObject('SeriesPage', {
  series: Series,
  missing: listUpTo(MAX_MISSING, int(1, MAX_SERIES_NUMBER)),
  item: listUpTo(MAX_LIST_SIZE, SeriesBook),
  next: z.nullable(textUpTo(MAX_CURSOR)),
})
export type SeriesPage = z.infer<typeof SeriesPage>

export const WholeBook = named(
  'WholeBook',
  z.extend(ListedBook, {
    ...z.omit(BookParts, { lastMemo: true }).shape,
    memos: z.nullable(listUpTo(MAX_SHOWN_MEMOS, Memo)),
  }),
)
export type WholeBook = z.infer<typeof WholeBook>

const BookOfMemo = namedObject('BookOfMemo', {
  title: textUpTo(MAX_NAME),
  author: z.nullable(textUpTo(MAX_NAME)),
  cover: z.nullable(textUpTo(MAX_COVER)),
})
export const ListedMemo = named('ListedMemo', z.extend(MemoOfBook, { book: z.optional(BookOfMemo) }))
export type ListedMemo = z.infer<typeof ListedMemo>

const PARTS_OF_WHOLE = Object.fromEntries(
  Object.entries(PART_DESCRIPTIONS).map(([name, text]) => [`WholeBook.${name}`, text]),
)

const firstBooks = MAX_NUMBERS.toLocaleString('en')

export const screensReference: FeatureReference = {
  tag: 'Books',
  schemas: {
    BookCounts: 'How many books have each status, format, rating, tag and series. Values without books are not listed.',
    BookOfMemo: 'What a list of memos shows of a book.',
    FormatCount: 'A format of editions, and how many books have it.',
    ListedMemo: 'A memo in a list of the memos of all books.',
    ListedMemoList: 'A page of memos of all books.',
    SeriesBook: 'A book of a series.',
    SeriesCount: 'A series, and how many books it has.',
    SeriesPage: 'A page of the books of a series.',
    StarCount: 'A rating, and how many books have it.',
    StatusCounts: 'How many books have each status.',
    WholeBook: 'What the page of a book shows.',
  },
  ownProperties: {
    book: 'The book, with `include=book`.',
    DONE: 'Number of finished books.',
    'FormatCount.format': 'The format.',
    formats: 'The formats.',
    ING: 'Number of books that are being read.',
    missing: `The first ${MAX_MISSING} whole numbers from 1 that no book of the series has, up to the highest number of its first ${firstBooks} books.`,
    ratings: 'The ratings, as the `star` of books.',
    series: 'The series.',
    'BookCounts.series': `The ${MAX_COUNTED_SERIES} series with the most books, most books first.`,
    seriesCount: 'Number of series.',
    statuses: 'The statuses.',
    'BookCounts.tags': 'The tags, as `listTags` returns them.',
    ...PARTS_OF_WHOLE,
    memos: `The newest ${MAX_SHOWN_MEMOS} memos. Their contents are cut after ${MAX_EXCERPT} characters: \`listBookMemos\` has all. Null for an access token without \`memos:read\`.`,
    YET: 'Number of books that have not been started.',
  },
  parameters: {
    'getSeries.series': 'The series, spelled as in the editions.',
    'listMemos.include': '`book` adds the book to each memo.',
    'listMemos.memoAuthority': 'Visibility of the memos to list. `ALL` lists all.',
    'listMemos.q': 'Text that the memos contain, as in `searchMemos`.',
    'listMemos.since':
      'Only memos created at this time or later, in RFC 3339 format, with `Z` or an offset, whose `+` is sent as `%2B`.',
  },
  operations: {
    'GET /books/counts': {
      operationId: 'countBooks',
      summary: 'Count books by status, format, rating, tag and series',
      description:
        'What the filters of a shelf show, in one call. Series are counted as they are spelled. Counts towards the same limit as `getStats`.',
      responses: { 200: json(BookCounts, 'The numbers of books') },
    },
    'GET /books/{book-id}/whole': {
      operationId: 'getWholeBook',
      summary: 'Get a book with its edition, tags, reading, progress and newest memos',
      description: 'The page of a book, in one call.',
      responses: { 200: json(WholeBook, 'The book') },
    },
    'GET /memos': {
      operationId: 'listMemos',
      summary: 'List the memos of all books',
      description:
        `Latest \`createdAt\` first. A request examines at most ${MAX_SEARCHED.toLocaleString('en')} memos or about ` +
        `${MAX_WHOLE_BYTES / 1024} KiB of text, so a page can be short or empty: the list ends when \`next\` is null.`,
      responses: { 200: json(listOf(ListedMemo), 'A page of memos') },
    },
    'GET /series/{series}': {
      operationId: 'getSeries',
      summary: 'Get the books of a series',
      description:
        'By `seriesNumber`, then those without one, oldest registration first. Empty if no book is of the series. A series named `.` or `..` has no path: `listBooks` has the filter.',
      responses: { 200: json(SeriesPage, 'A page of books') },
    },
  },
}
