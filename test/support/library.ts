import { expect } from 'vitest'
import type { Reader } from './api'
import { select } from './database'
import { LIBRARY_TABLES } from './stores'
import { remote } from './target'

export const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)

/** What is sent, and what is stored if it differs. */
export type ValidCase = [sent: Record<string, unknown>, stored?: Record<string, unknown>]

/** Names, which may be sent as their index, too, quoted or not. */
export const namesAndCodes = (field: string, names: string[]) =>
  names.flatMap((name, code) =>
    [name, code, `${code}`].map((sent): ValidCase => [{ [field]: sent }, { [field]: name }]),
  )

export const getBook = async (reader: Reader, bookId: number, memoAuthority = 'ALL') =>
  (await reader.get(`/books/${bookId}?memoAuthority=${memoAuthority}`)).body

const LISTS = ['YET', 'ING', 'DONE'].map((status) => `library?bookStatus=${status}&`)

/** What a member sees: the profile, every list of books, and these books in detail. */
const viewsOf = (reader: Reader, bookIds: number[]) => {
  const lists = [...LISTS, 'calender?', 'abandon?', 'memo-books?'].map((list) => `/books/${list}page=1&size=1000`)
  const details = bookIds.map((bookId) => `/books/${bookId}?memoAuthority=ALL`)
  return Promise.all(['/members/me', ...lists, ...details].map(async (path) => (await reader.get(path)).body))
}

/** What is stored, to compare before and after: the tables, or, over HTTP, what the member sees of it. */
export const snapshot = async (reader: Reader, ...bookIds: number[]) => {
  if (remote) return viewsOf(reader, bookIds)
  const tables = ['members', ...LIBRARY_TABLES, 'retiredIds']
  return Promise.all(tables.map((table) => select(`select * from ${table}`)))
}
