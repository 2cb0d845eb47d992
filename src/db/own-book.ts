import { isOwnRow } from '../db/caller'
import { books } from '../db/schema'

/** Matches the book of the placeholder `bookId`, if it is the caller's. */
export const isOwnBook = isOwnRow(books.bookId, books.memberId)
