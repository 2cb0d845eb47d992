import * as z from 'zod'
import { Memo } from '../memos/responses'
import { Id, LocalTime, pageOf } from '../schema/responses'
import { Int32, int } from '../schema/values'
import { BookStatus } from './schema'

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
