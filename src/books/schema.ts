import * as z from 'zod'
import { BOOK_STATUSES, MEMO_AUTHORITIES } from '../contract'
import { Memo } from '../memos/schema'
import { Paging } from '../schema/paging'
import {
  emptyAsNull,
  enumeration,
  enumerationOrAll,
  filledText,
  Id,
  IdParameter,
  Int32,
  int,
  LocalTime,
  QuotableInt32,
  Timestamp,
  text,
  WebUrl,
} from '../schema/values'

const BookStatus = enumeration(BOOK_STATUSES)
const NullableName = emptyAsNull(text(500))

export const NewBook = z
  .object({
    title: filledText(500),
    author: NullableName.optional(),
    cover: emptyAsNull(WebUrl).optional(),
    publisher: NullableName.optional(),
    itemPage: QuotableInt32.nullish(),
    currentPage: Int32.default(0).describe('0 if absent'),
    bookStatus: BookStatus.default('YET').describe('YET if absent'),
    readStartDate: Timestamp.nullish(),
    readEndDate: Timestamp.nullish(),
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
    bookStatus: BookStatus.optional(),
    readStartDate: Timestamp.nullish(),
    readStratDate: Timestamp.nullish().meta({
      description: 'Alias of readStartDate. If both are sent, readStartDate is used',
    }),
    readEndDate: Timestamp.nullish(),
  })
  .transform(({ readStratDate, ...patch }) =>
    readStratDate === undefined ? patch : { readStartDate: readStratDate, ...patch },
  )
  .meta({ id: 'BookPatch' })
export type BookPatch = z.infer<typeof BookPatch>

export const BookPath = z.object({ 'book-id': IdParameter.describe('Identifier of the book') })
export const LibraryQuery = Paging.extend({ bookStatus: BookStatus.describe('Status of the books to list') })
export type LibraryQuery = z.infer<typeof LibraryQuery>
export const DetailQuery = z.object({
  memoAuthority: enumerationOrAll(MEMO_AUTHORITIES).describe('Visibility of the memos to include'),
})
export type DetailQuery = z.infer<typeof DetailQuery>

/** All fields of a book in responses. Each view picks its own. */
const Book = z.object({
  bookId: Id,
  title: text(500),
  cover: text(2048).nullable(),
  author: text(500).nullable(),
  publisher: text(500).nullable(),
  createdAt: LocalTime,
  star: int(0, 5),
  currentPage: Int32,
  itemPage: Int32.nullable(),
  bookStatus: z.enum(BOOK_STATUSES),
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
