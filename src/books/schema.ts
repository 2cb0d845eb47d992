import * as z from 'zod'
import { BOOK_STATUSES } from '../contract'
import { Memo, MemoAuthority } from '../memos/schema'
import { cursorError, cursorPaging } from '../schema/cursor'
import { Isbn } from '../schema/isbn'
import { Paging, pageOf } from '../schema/paging'
import {
  filledText,
  Id,
  IdParameter,
  Int32,
  int,
  LocalTime,
  NullableUrl,
  nameOrCode,
  nameOrCodeOrAll,
  nonEmptyText,
  nullableText,
  QuotableInt32,
  Timestamp,
  trimmedText,
} from '../schema/values'

const BookStatus = z.enum(BOOK_STATUSES).meta({ id: 'BookStatus' })
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

/** All fields of a book in responses. Each view picks its own. */
const Book = z.object({
  bookId: Id,
  title: z.string().max(500),
  cover: z.string().max(2048).nullable(),
  author: z.string().max(500).nullable(),
  publisher: z.string().max(500).nullable(),
  createdAt: LocalTime,
  star: int(0, 5),
  currentPage: Int32,
  itemPage: Int32.nullable(),
  bookStatus: BookStatus,
  readStartDate: LocalTime.nullable(),
  readEndDate: LocalTime.nullable(),
  memoCount: Int32,
})

export const RegisteredBook = Book.pick({
  bookId: true,
  title: true,
  author: true,
  cover: true,
  bookStatus: true,
}).meta({
  id: 'RegisteredBook',
})
export type RegisteredBook = z.infer<typeof RegisteredBook>

export const LibraryBook = Book.omit({ publisher: true, readStartDate: true, readEndDate: true }).meta({
  id: 'LibraryBook',
})
export type LibraryBook = z.infer<typeof LibraryBook>
export const LibraryBookPage = pageOf(LibraryBook)

export const ListedBook = Book.meta({ id: 'ListedBook' })
export type ListedBook = z.infer<typeof ListedBook>

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

export const CalenderBook = Book.pick({ bookId: true, cover: true })
  .extend({ readEndDate: LocalTime })
  .meta({ id: 'CalenderBook' })
export type CalenderBook = z.infer<typeof CalenderBook>

export const AbandonedBook = Book.pick({ bookId: true, createdAt: true, title: true, cover: true }).meta({
  id: 'AbandonedBook',
})
export type AbandonedBook = z.infer<typeof AbandonedBook>

export const MemoBook = Book.pick({ bookId: true, title: true, cover: true, memoCount: true }).meta({ id: 'MemoBook' })
export type MemoBook = z.infer<typeof MemoBook>

export const BookDetail = Book.extend({ memosList: z.array(Memo) }).meta({ id: 'BookDetail' })
export type BookDetail = z.infer<typeof BookDetail>

export const UpdatedBook = Book.pick({
  author: true,
  publisher: true,
  itemPage: true,
  readStartDate: true,
  readEndDate: true,
  bookStatus: true,
  star: true,
  currentPage: true,
}).meta({ id: 'UpdatedBook' })
export type UpdatedBook = z.infer<typeof UpdatedBook>

export const CreatedDate = Book.pick({ bookId: true, createdAt: true }).meta({ id: 'CreatedDate' })
export type CreatedDate = z.infer<typeof CreatedDate>
