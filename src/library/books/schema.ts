import * as z from 'zod/mini'
import { BOOK_FORMATS, BOOK_STATUSES, MAX_NAME, MAX_TAG } from '../../values/contract'
import { cursorError, cursorPaging } from '../../values/cursor'
import {
  BookFormat,
  filledText,
  Int32,
  idParameter,
  int,
  NullableUrl,
  nameOf,
  nameOrCode,
  nameOrCodeOrAll,
  nonEmptyText,
  nullableText,
  orRequired,
  PastInstant,
  quotableInt32,
  Timestamp,
  trimmedText,
} from '../../values/fields'
import { type Caught, lenient, named, namedLazy, withFallback } from '../../values/named'
import { pagingUpTo } from '../../values/paging'
import { Isbn } from '../../values/text/isbn'
import { Language, PublishedYear } from '../editions/schema'
import { MemoAuthority } from '../memos/schema'
import { LibrarySearchTerm } from '../search/schema'
import { tagNames } from '../tags/schema'

/** The most rows that a page of a list reads to test its filters. */
export const MAX_FILTER_ROWS = 2000
/** What a response can include of a book. */
export const INCLUDES = ['edition', 'tags', 'readings', 'progress', 'lastMemo'] as const
export type Include = (typeof INCLUDES)[number]
/** The most characters of a memo, or of the note of a reading, that is included. */
export const MAX_EXCERPT = 500
/** The most tags that a list filters by. */
export const MAX_WANTED_TAGS = 5

export const BookStatus = named('BookStatus', z.enum(BOOK_STATUSES))
const StatusOrCode = z.lazy(() => nameOrCode(BookStatus))
const NullableName = z.lazy(() => nullableText(MAX_NAME))

type RejectedIsbn = { reason: string; input: unknown }
// Not an error by itself: beside a title, clients could send anything as `isbn` before this field existed.
const toRejected = (caught?: Caught) =>
  caught && ({ reason: caught.error.issues[0]?.message, input: caught.input } as unknown as string)

export const NewBook = namedLazy('NewBook', () =>
  z.pipe(
    z.object({
      title: z.optional(filledText(MAX_NAME)),
      author: z.optional(NullableName),
      cover: z.optional(NullableUrl),
      publisher: z.optional(NullableName),
      itemPage: z.nullish(quotableInt32()),
      currentPage: z._default(Int32, 0),
      bookStatus: z._default(StatusOrCode, 'YET'),
      readStartDate: z.nullish(Timestamp),
      readEndDate: z.nullish(Timestamp),
      isbn: withFallback(z.nullish(Isbn), toRejected),
    }),
    z.transform(({ title, isbn: sent, ...book }, { issues }) => {
      const isbn = sent as RejectedIsbn | string | null | undefined
      if (title !== undefined) return { ...book, title, isbn: typeof isbn === 'string' ? isbn : null }
      if (typeof isbn === 'string') return { ...book, isbn }
      const issue = isbn
        ? { path: ['isbn'], message: isbn.reason, input: isbn.input }
        : { path: ['title'], message: 'is required', input: undefined }
      issues.push({ code: 'custom', ...issue })
      return z.NEVER
    }),
  ),
)
export type NewBook = z.infer<typeof NewBook>
export type TitledBook = Extract<NewBook, { title: string }>
/** A book of which the catalogue knows the rest. */
export type BookByIsbn = Exclude<NewBook, TitledBook>

export const BookPatch = namedLazy('BookPatch', () =>
  z.pipe(
    z.object({
      author: z.optional(NullableName),
      publisher: z.optional(NullableName),
      itemPage: z.nullish(quotableInt32()),
      currentPage: z.optional(Int32),
      star: z.optional(int(0, 5)),
      bookStatus: z.optional(StatusOrCode),
      readStartDate: z.nullish(Timestamp),
      readStratDate: z.nullish(Timestamp),
      readEndDate: z.nullish(Timestamp),
    }),
    z.transform(({ readStratDate, ...patch }) =>
      readStratDate === undefined ? patch : { readStartDate: readStratDate, ...patch },
    ),
  ),
)
export type BookPatch = z.infer<typeof BookPatch>

export const BookMerge = namedLazy('BookMerge', () => z.object({ from: int(1, Number.MAX_SAFE_INTEGER) }))
export type BookMerge = z.infer<typeof BookMerge>

/** The most books that a request changes or deletes at once. */
export const MAX_IDS = 200
const bookIds = () =>
  z.array(int(1, Number.MAX_SAFE_INTEGER), { error: orRequired('must be an array of identifiers') }).check(
    z.minLength(1, { error: 'must not be empty' }),
    z.maxLength(MAX_IDS, { error: `must have at most ${MAX_IDS} identifiers` }),
    z.refine((ids) => new Set(ids).size === ids.length, { error: 'must not repeat an identifier' }),
  )
export const BookIds = namedLazy('BookIds', () => z.object({ ids: bookIds() }))
export type BookIds = z.infer<typeof BookIds>

/** Fields that several books can have in common. */
const BookValues = namedLazy('BookValues', () =>
  z.object(
    {
      author: z.optional(NullableName),
      publisher: z.optional(NullableName),
      star: z.optional(int(0, 5)),
      bookStatus: z.optional(StatusOrCode),
      readStartDate: z.nullish(Timestamp),
      readEndDate: z.nullish(Timestamp),
      language: z.nullish(Language),
      format: z.nullish(BookFormat),
      publishedYear: z.nullish(PublishedYear),
      series: z.optional(NullableName),
    },
    { error: 'must be an object' },
  ),
)
/** The most tags that a request adds to books and removes from them: each changes up to five rows. */
export const MAX_TAG_CHANGES = 1000
export const BooksPatch = namedLazy('BooksPatch', () =>
  z
    .object({
      ids: bookIds(),
      set: z.optional(BookValues),
      addTags: z.optional(tagNames()),
      removeTags: z.optional(tagNames()),
    })
    .check(
      z.refine(
        ({ ids, addTags = [], removeTags = [] }) =>
          ids.length * (addTags.length + removeTags.length) <= MAX_TAG_CHANGES,
        { path: ['ids'], error: `must be fewer: books times tags can be at most ${MAX_TAG_CHANGES}` },
      ),
    ),
)
export type BooksPatch = z.infer<typeof BooksPatch>

const BookId = z.lazy(() =>
  idParameter({ words: new Map([['calendar', 'must be an integer; the calendar is spelled calender']]) }),
)
export const BookPath = z.lazy(() => z.object({ 'book-id': BookId }))
export const LibraryQuery = z.lazy(() => z.extend(pagingUpTo(), { bookStatus: StatusOrCode }))
export type LibraryQuery = z.infer<typeof LibraryQuery>
export const DetailQuery = z.lazy(() => z.object({ memoAuthority: nameOrCodeOrAll(MemoAuthority) }))
export type DetailQuery = z.infer<typeof DetailQuery>

const FIELDS = ['created', 'title', 'author', 'finished', 'rating', 'activity'] as const
export type SortField = (typeof FIELDS)[number]
const SORTS = FIELDS.flatMap((field) => [field, `-${field}`] as const)
const Sort = z.enum(SORTS, { error: `must be one of ${SORTS.join(', ')}` })

/** One tag, or several: the parameter is repeated. */
const wantedTags = () => {
  const tag = trimmedText(MAX_TAG)
  const error = `must be sent at most ${MAX_WANTED_TAGS} times`
  const one = z.pipe(
    tag,
    z.transform((text) => [text]),
  )
  return lenient(
    [z.array(tag).check(z.maxLength(MAX_WANTED_TAGS, { error })), one],
    ({ input, errors }) => errors[Array.isArray(input) ? 0 : 1]?.[0]?.message,
  ) as z.ZodMiniType<string[], string | string[]>
}

const included = () => {
  const any = `(?:${INCLUDES.join('|')})`
  const error = `must be one of ${INCLUDES.join(', ')}, or several with commas between them`
  return z.pipe(
    z.string().check(z.regex(new RegExp(`^${any}(?:,${any})*$`), { error })),
    z.transform((names) => INCLUDES.filter((name) => names.split(',').includes(name))),
  )
}

/** The last book of a page. Segment 0 has the books with a value to sort by, segment 1 those without. */
export const Position = z.lazy(() =>
  z.object({
    sort: Sort,
    segment: z.int().check(z.minimum(0), z.maximum(1)),
    sortKey: z.union([z.string(), z.number(), z.null()]),
    bookId: z.int(),
  }),
)
export type Position = z.infer<typeof Position>

export const ListQuery = z.lazy(() =>
  z
    .extend(cursorPaging(Position), {
      status: z.optional(StatusOrCode),
      tag: z.optional(wantedTags()),
      author: z.optional(nonEmptyText(MAX_NAME)),
      series: z.optional(nonEmptyText(MAX_NAME)),
      format: z.optional(nameOf(BOOK_FORMATS)),
      isbn: z.optional(Isbn),
      q: z.optional(LibrarySearchTerm),
      since: z.optional(PastInstant),
      sort: z._default(Sort, '-created'),
      include: z.optional(included()),
    })
    .check(
      z.refine(({ cursor, sort }) => cursor === undefined || cursor.sort === sort, {
        path: ['cursor'],
        error: cursorError,
      }),
    ),
)
export type ListQuery = z.infer<typeof ListQuery>
