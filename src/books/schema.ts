import * as z from 'zod'
import { BOOK_STATUSES } from '../contract'
import { MemoAuthority } from '../memos/schema'
import { cursorError, cursorPaging } from '../schema/cursor'
import { Isbn } from '../schema/isbn'
import { Paging } from '../schema/paging'
import {
  filledText,
  IdParameter,
  Int32,
  int,
  NullableUrl,
  nameOrCode,
  nameOrCodeOrAll,
  nonEmptyText,
  nullableText,
  QuotableInt32,
  Timestamp,
  trimmedText,
} from '../schema/values'

export const BookStatus = z.enum(BOOK_STATUSES).meta({ id: 'BookStatus' })
const StatusOrCode = nameOrCode(BookStatus)
const NullableName = nullableText(500)

export const NewBook = z
  .object({
    title: filledText(500),
    author: NullableName.optional(),
    cover: NullableUrl.optional(),
    publisher: NullableName.optional(),
    itemPage: QuotableInt32.nullish(),
    currentPage: Int32.default(0),
    bookStatus: StatusOrCode.default('YET'),
    readStartDate: Timestamp.nullish(),
    readEndDate: Timestamp.nullish(),
    // An invalid one is ignored: clients could send anything here before this field existed.
    isbn: Isbn.nullish().catch(null),
  })
  .meta({ id: 'NewBook' })
export type NewBook = z.infer<typeof NewBook>

export const BookPatch = z
  .object({
    author: NullableName.optional(),
    publisher: NullableName.optional(),
    itemPage: QuotableInt32.nullish(),
    currentPage: Int32.optional(),
    star: int(0, 5).optional(),
    bookStatus: StatusOrCode.optional(),
    readStartDate: Timestamp.nullish(),
    readStratDate: Timestamp.nullish(),
    readEndDate: Timestamp.nullish(),
  })
  .transform(({ readStratDate, ...patch }) =>
    readStratDate === undefined ? patch : { readStartDate: readStratDate, ...patch },
  )
  .meta({ id: 'BookPatch' })
export type BookPatch = z.infer<typeof BookPatch>

export const BookPath = z.object({ 'book-id': IdParameter })
export const LibraryQuery = Paging.extend({ bookStatus: StatusOrCode })
export type LibraryQuery = z.infer<typeof LibraryQuery>
export const DetailQuery = z.object({ memoAuthority: nameOrCodeOrAll(MemoAuthority) })
export type DetailQuery = z.infer<typeof DetailQuery>

const FIELDS = ['created', 'title', 'author', 'finished', 'rating'] as const
export type SortField = (typeof FIELDS)[number]
const SORTS = FIELDS.flatMap((field) => [field, `-${field}`] as const)
const Sort = z.enum(SORTS, { error: `must be one of ${SORTS.join(', ')}` })

/** The last book of a page. Part 0 has the books with a value to sort by, part 1 those without. */
const Position = z.object({
  sort: Sort,
  part: z.int().min(0).max(1),
  sortKey: z.union([z.string(), z.number(), z.null()]),
  bookId: z.int(),
})
export type Position = z.infer<typeof Position>

export const ListQuery = cursorPaging(Position)
  .extend({
    status: StatusOrCode.optional(),
    tag: trimmedText(100).optional(),
    author: nonEmptyText(500).optional(),
    sort: Sort.default('-created'),
  })
  .refine(({ cursor, sort }) => cursor === undefined || cursor.sort === sort, { path: ['cursor'], error: cursorError })
export type ListQuery = z.infer<typeof ListQuery>
