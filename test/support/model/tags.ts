// Tags of books.
import * as fc from 'fast-check'
import { fold } from '../../../src/values/text/fold'
import { at, type Commands, command, NOT_FOUND, position } from './commands'
import { ascending, descending, findBook, type Library, settle } from './library'
import { TAGS } from './values'
import { type Paging, paged, toLibraryBook, type View } from './views'

const name = fc.constantFrom(...TAGS)
const toTag = (sent: string) => sent.trim().normalize('NFC')
const toKey = (sent: string) => fold(toTag(sent))

/** The tags of a book, or all, by key. */
export const tagsOf = ({ tags, bookTags }: Library, bookId?: number) =>
  tags
    .filter(({ key }) => bookId === undefined || bookTags.get(bookId)?.includes(key))
    .toSorted(ascending(({ key }) => key))

const booksWith = (library: Library, key: string) =>
  library.books.filter(({ bookId }) => library.bookTags.get(bookId)?.includes(key))
const countBooks = (library: Library, key: string) => booksWith(library, key).length

/** Adds a tag unless there is an equal one, which keeps its spelling. */
const addTag = (library: Library, sent: string) => {
  const key = toKey(sent)
  if (library.tags.every((tag) => tag.key !== key)) library.tags.push({ key, tag: toTag(sent) })
  return key
}

/** Adds tags to a book, and removes others. Returns whether its tags change. */
export const changeTags = (library: Library, bookId: number, add: string[], remove: string[]) => {
  const before = library.bookTags.get(bookId) ?? []
  const kept = before.filter((key) => !remove.map(toKey).includes(key) || add.map(toKey).includes(key))
  const after = [...new Set([...kept, ...add.map((tag) => addTag(library, tag))])]
  library.bookTags.set(bookId, after)
  settle(library)
  return after.length !== before.length || after.some((key) => !before.includes(key))
}

const put = command('put tags', 6, fc.tuple(position, fc.array(name, { maxLength: 4 })), (library, [index, tags]) => {
  const bookId = at(library.bookIds, index)
  if (!bookId) return undefined
  const respond = (library: Library) => {
    if (!findBook(library, bookId)) return NOT_FOUND
    library.bookTags.set(bookId, [...new Set(tags.map((tag) => addTag(library, tag)))])
    settle(library)
    return { status: 200, body: { tags: tagsOf(library, bookId).map(({ tag }) => tag) } }
  }
  return { method: 'PUT', path: `/books/${bookId}/tags`, body: { tags }, respond }
})

const change = command(
  'change tags',
  6,
  fc.tuple(position, fc.array(name, { maxLength: 3 }), fc.array(name, { maxLength: 3 })),
  (library, [index, add, remove]) => {
    const bookId = at(library.bookIds, index)
    if (!bookId) return undefined
    const respond = (library: Library) => {
      if (!findBook(library, bookId)) return NOT_FOUND
      changeTags(library, bookId, add, remove)
      return { status: 200, body: { tags: tagsOf(library, bookId).map(({ tag }) => tag) } }
    }
    return { method: 'PATCH', path: `/books/${bookId}/tags`, body: { add, remove }, respond }
  },
)

const rename = command('rename tag', 3, fc.record({ from: name, to: name }), (_, body) => ({
  method: 'PATCH',
  path: '/tags',
  body,
  respond: (library) => {
    const [from, to] = [toKey(body.from), toKey(body.to)]
    const renamed = library.tags.find(({ key }) => key === from)
    if (!renamed) return NOT_FOUND
    const isMerge = to !== from && library.tags.some(({ key }) => key === to)
    if (!isMerge) Object.assign(renamed, { key: to, tag: toTag(body.to) })
    for (const [bookId, keys] of library.bookTags) {
      library.bookTags.set(bookId, [...new Set(keys.map((key) => (key === from ? to : key)))])
    }
    settle(library)
    const tag = library.tags.find(({ key }) => key === to)?.tag
    return { status: 200, body: { tag, bookCount: countBooks(library, to) } }
  },
}))

const remove = command('delete tag', 2, name, (_, tag) => ({
  method: 'DELETE',
  path: `/tags?tag=${encodeURIComponent(tag)}`,
  respond: (library) => {
    const isKnown = library.tags.some(({ key }) => key === toKey(tag))
    for (const [bookId, keys] of library.bookTags) {
      const others = keys.filter((key) => key !== toKey(tag))
      library.bookTags.set(bookId, others)
    }
    settle(library)
    return isKnown ? { status: 204, body: null } : NOT_FOUND
  },
}))

export const tagCommands: Commands[] = [put, change, rename, remove]

export const tagViews = (library: Library, bookId: number | undefined, paging: Paging, focus: number): View[] => {
  const list = tagsOf(library).map(({ key, tag }) => ({ tag, bookCount: countBooks(library, key) }))
  const tagged = at(TAGS, focus) ?? ''
  const books = booksWith(library, toKey(tagged)).toSorted(descending((book) => book.bookId))
  const items = books.map((book) => toLibraryBook(library, book))
  const body = bookId && { tags: tagsOf(library, bookId).map(({ tag }) => tag) }
  return [
    { path: '/tags', expected: { status: 200, body: list } },
    ...(bookId ? [{ path: `/books/${bookId}/tags`, expected: { status: 200, body } }] : []),
    ...paged(`/books/tagged?tag=${encodeURIComponent(tagged)}`, items, paging),
  ]
}

export const hasTag = ({ bookTags }: Library, bookId: number, sent: string) =>
  bookTags.get(bookId)?.includes(toKey(sent)) ?? false
