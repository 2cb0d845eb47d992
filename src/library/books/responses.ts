import * as z from 'zod/mini'
import { Int32, int } from '../../values/fields'
import { Id, LocalTime, pageOf } from '../../values/responses'
import { Memo } from '../memos/responses'
import { BookStatus } from './schema'

/** All fields of a book in responses. Each view picks its own. */
const Book = z.object({
  bookId: Id,
  title: z.string().check(z.maxLength(500)),
  cover: z.nullable(z.string().check(z.maxLength(2048))),
  author: z.nullable(z.string().check(z.maxLength(500))),
  publisher: z.nullable(z.string().check(z.maxLength(500))),
  createdAt: LocalTime,
  star: int(0, 5),
  currentPage: Int32,
  itemPage: z.nullable(Int32),
  bookStatus: BookStatus,
  readStartDate: z.nullable(LocalTime),
  readEndDate: z.nullable(LocalTime),
  memoCount: Int32,
})

export const RegisteredBook = z
  .pick(Book, {
    bookId: true,
    title: true,
    author: true,
    cover: true,
    bookStatus: true,
  })
  .register(z.globalRegistry, {
    id: 'RegisteredBook',
  })
export type RegisteredBook = z.infer<typeof RegisteredBook>

export const LibraryBook = z
  .omit(Book, { publisher: true, readStartDate: true, readEndDate: true })
  .register(z.globalRegistry, {
    id: 'LibraryBook',
  })
export type LibraryBook = z.infer<typeof LibraryBook>

export const LibraryBookPage = pageOf(LibraryBook)

export const ListedBook = Book.register(z.globalRegistry, { id: 'ListedBook' })
export type ListedBook = z.infer<typeof ListedBook>

export const CalenderBook = z
  .extend(z.pick(Book, { bookId: true, cover: true }), { readEndDate: LocalTime })
  .register(z.globalRegistry, { id: 'CalenderBook' })
export type CalenderBook = z.infer<typeof CalenderBook>

export const AbandonedBook = z
  .pick(Book, { bookId: true, createdAt: true, title: true, cover: true })
  .register(z.globalRegistry, {
    id: 'AbandonedBook',
  })
export type AbandonedBook = z.infer<typeof AbandonedBook>

export const MemoBook = z
  .pick(Book, { bookId: true, title: true, cover: true, memoCount: true })
  .register(z.globalRegistry, { id: 'MemoBook' })
export type MemoBook = z.infer<typeof MemoBook>

export const BookDetail = z.extend(Book, { memosList: z.array(Memo) }).register(z.globalRegistry, { id: 'BookDetail' })
export type BookDetail = z.infer<typeof BookDetail>

export const UpdatedBook = z
  .pick(Book, {
    author: true,
    publisher: true,
    itemPage: true,
    readStartDate: true,
    readEndDate: true,
    bookStatus: true,
    star: true,
    currentPage: true,
  })
  .register(z.globalRegistry, { id: 'UpdatedBook' })
export type UpdatedBook = z.infer<typeof UpdatedBook>

export const CreatedDate = z
  .pick(Book, { bookId: true, createdAt: true })
  .register(z.globalRegistry, { id: 'CreatedDate' })
export type CreatedDate = z.infer<typeof CreatedDate>
