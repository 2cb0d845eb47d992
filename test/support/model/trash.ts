// The trash: what was deleted, and how it comes back.
import * as fc from 'fast-check'
import { at, type Commands, command, type Expected, NOT_FOUND, position } from './commands'
import {
  ascending,
  type Book,
  deleteBook,
  findBook,
  type Library,
  type Memo,
  memosOf,
  NOW,
  settle,
  type Trashed,
  toMemo,
} from './library'
import { unmerge } from './unmerge'
import type { View } from './views'

type TrashedBook = Extract<Trashed, { book: Book }>

/** All that belongs to a book. */
export const trashedBook = (library: Library, book: Book): TrashedBook => {
  const keys = library.bookTags.get(book.bookId)
  return structuredClone({
    trashId: `book-${book.bookId}`,
    book,
    memos: memosOf(library, book.bookId),
    edition: library.editions.get(book.bookId),
    tags: library.tags.filter(({ key }) => keys?.includes(key)),
    readings: library.readings.get(book.bookId) ?? [],
    current: library.current.get(book.bookId),
    events: library.events.get(book.bookId) ?? [],
  })
}

export const trashBook = (library: Library, bookId: number) => {
  const book = findBook(library, bookId)
  if (!book) return
  library.trash.push(trashedBook(library, book))
  deleteBook(library, bookId)
}

export const trashMemo = (library: Library, memo: Memo) => {
  library.trash.push({ trashId: `memo-${memo.memoId}`, memo, title: findBook(library, memo.bookId)?.title ?? '' })
  library.memos = library.memos.filter((each) => each !== memo)
}

const restoreBook = (library: Library, entry: TrashedBook) => {
  const { book, memos, edition, tags, readings, current, events, merged } = entry
  const { bookId } = book
  library.books = [...library.books, book].sort(ascending((each) => each.bookId))
  if (!merged) library.memos = [...library.memos, ...memos].sort(ascending((each) => each.memoId))
  if (edition) library.editions.set(bookId, edition)
  const isNew = ({ key }: { key: string }) => library.tags.every((tag) => tag.key !== key)
  library.tags.push(...tags.filter(isNew))
  library.bookTags.set(
    bookId,
    tags.map(({ key }) => key),
  )
  library.readings.set(bookId, readings)
  if (current) library.current.set(bookId, current)
  library.events.set(bookId, events)
  settle(library, book)
  if (merged) unmerge(library, book, merged)
}

const bookAnswer = (library: Library, bookId: number): Expected => {
  const book = findBook(library, bookId)
  if (!book) return NOT_FOUND
  return { status: 200, body: { book: { ...book, memoCount: memosOf(library, bookId).length }, memo: null } }
}
const memoAnswer = ({ memos }: Library, memoId: number): Expected => {
  const memo = memos.find((each) => each.memoId === memoId)
  return memo ? { status: 200, body: { book: null, memo: { ...toMemo(memo), bookId: memo.bookId } } } : NOT_FOUND
}

/** Takes an entry out of the trash. */
const take = (library: Library, trashId: string) => {
  const entry = library.trash.find((each) => each.trashId === trashId)
  library.trash = library.trash.filter((each) => each !== entry)
  return entry
}

const restore = (library: Library, trashId: string) => {
  const id = Number(trashId.slice(5))
  const found = library.trash.find((each) => each.trashId === trashId)
  if (found && 'memo' in found && !findBook(library, found.memo.bookId)) return { status: 409 }
  const entry = take(library, trashId)
  if (entry && 'memo' in entry) library.memos = [...library.memos, entry.memo].sort(ascending((each) => each.memoId))
  else if (entry) restoreBook(library, entry)
  return trashId.startsWith('book') ? bookAnswer(library, id) : memoAnswer(library, id)
}

/** Something that exists or has existed, in the trash or not. */
const anyId = ({ trash, bookIds, memoIds }: Library, [index, choice]: [number, number]) =>
  at(trash, index)?.trashId && choice > 0
    ? at(trash, index)?.trashId
    : [`book-${at(bookIds, index)}`, `memo-${at(memoIds, index)}`].find((id) => !id.endsWith('undefined'))

const bringBack = command('restore', 6, fc.tuple(position, fc.nat(4)), (library, chosen) => {
  const trashId = anyId(library, chosen)
  if (!trashId) return undefined
  return { method: 'POST', path: `/trash/${trashId}/restore`, respond: (library) => restore(library, trashId) }
})

const deleteForGood = command('delete for good', 1, fc.tuple(position, fc.nat(4)), (library, chosen) => {
  const trashId = anyId(library, chosen)
  if (!trashId) return undefined
  const respond = (library: Library) => (take(library, trashId) ? { status: 204, body: null } : NOT_FOUND)
  return { method: 'DELETE', path: `/trash/${trashId}`, respond }
})

const empty = command('empty the trash', 1, fc.constant(null), () => ({
  method: 'DELETE',
  path: '/trash',
  respond: (library) => {
    library.trash = []
    return { status: 204, body: null }
  },
}))

export const trashCommands: Commands[] = [bringBack, deleteForGood, empty]

const toItem = (entry: Trashed) => {
  const common = { trashId: entry.trashId, deletedAt: NOW, expiresAt: NOW }
  if ('memo' in entry) {
    const { memoId, bookId, memoContent } = entry.memo
    const excerpt = [...memoContent].slice(0, 200).join('')
    return { ...common, kind: 'memo', bookId, memoId, title: entry.title, excerpt, memoCount: 0 }
  }
  const { bookId, title } = entry.book
  return { ...common, kind: 'book', bookId, memoId: null, title, excerpt: null, memoCount: entry.memos.length }
}

/** In any order: requests that overlap may read their clocks in another one than that in which they take effect. */
export const trashViews = ({ trash }: Library): View[] => {
  const expected: Record<string, unknown>[] = trash.map(toItem)
  const check = (body: unknown) => {
    const { item } = body as { item: typeof expected }
    const isEqual = (one: (typeof expected)[number], other: typeof one) =>
      Object.keys(one).every((name) => one[name] === other[name])
    return item.length === expected.length && expected.every((each) => item.some((other) => isEqual(each, other)))
  }
  return [{ path: '/trash?size=100', check }]
}
