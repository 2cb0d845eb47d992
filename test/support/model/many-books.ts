// Changes and deletions of several books at once: as those of each book.
import * as fc from 'fast-check'
import { BOOK_STATUSES } from '../../../src/values/contract'
import { anyOf, at, type Commands, command, position } from './commands'
import { editionOf } from './editions'
import { ascending, type Book, findBook, type Library, settle } from './library'
import { recordProgress } from './progress'
import { currentOf, followBook, isRefined, ownOf } from './readings'
import { changeTags } from './tags'
import { trashBook } from './trash'
import { AUTHORS, DATES, TAGS } from './values'

const date = fc.constantFrom(null, ...DATES)
const tags = fc.array(fc.constantFrom(...TAGS), { maxLength: 2 })
const values = anyOf({
  author: fc.constantFrom(null, '', ...AUTHORS),
  star: fc.nat(5),
  bookStatus: fc.constantFrom(...BOOK_STATUSES),
  readStartDate: date,
  readEndDate: date,
  series: fc.constantFrom(null, '', '대하 소설'),
})
type Values = Partial<Pick<Book, 'author' | 'star' | 'bookStatus' | 'readStartDate' | 'readEndDate'>> & {
  series?: string | null
}

const idsOf = ({ bookIds }: Library, indices: number[]) => [
  ...new Set(indices.flatMap((index) => at(bookIds, index) ?? [])),
]
const someBooks = fc.array(position, { minLength: 1, maxLength: 4 })

/** Changes the values of a book. `isChanged`: whether anything that the book shows has changed. */
const changeValues = (library: Library, book: Book, { series, ...fields }: Values) => {
  const { bookId } = book
  const before = { ...book }
  const edition = editionOf(library, bookId)
  Object.assign(book, fields)
  book.author ||= null
  if (series !== undefined) library.editions.set(bookId, { ...edition, series: series || null })
  settle(library, book, before.author)
  const names = Object.keys(fields) as (keyof typeof fields)[]
  const isChanged =
    names.some((name) => book[name] !== before[name]) || editionOf(library, bookId).series !== edition.series
  return { book, before, isChanged }
}
type Change = ReturnType<typeof changeValues>

const byId = ascending<Book>(({ bookId }) => bookId)

/** The order in which readings get their identifiers: those that are discarded make room for their next ones first. */
const inOrder = (library: Library, changes: Change[], { bookStatus }: Values) => {
  const isDiscarded = ({ before }: Change) =>
    bookStatus === 'YET' && !currentOf(library, before)?.outcome && !isRefined(ownOf(library, before.bookId))
  return changes.toSorted(
    ascending(
      (change) => (isDiscarded(change) ? 0 : 1),
      ({ book }) => book.bookId,
    ),
  )
}

const update = command(
  'update books',
  6,
  fc.tuple(someBooks, anyOf({ set: values, addTags: tags, removeTags: tags })),
  (library, [indices, { set = {}, addTags = [], removeTags = [] }]) => {
    const ids = idsOf(library, indices)
    if (ids.length === 0) return undefined
    const respond = (library: Library) => {
      const found = ids.flatMap((id) => findBook(library, id) ?? [])
      const start = library.clock
      // Books get a new author in the order of their identifiers, whatever becomes of their readings.
      const changes = found.toSorted(byId).map((book) => changeValues(library, book, set))
      for (const { book, before } of inOrder(library, changes, set))
        recordProgress(library, followBook(library, before, book), book)
      const changed = changes
        .filter(({ book: { bookId }, isChanged }) =>
          [isChanged, changeTags(library, bookId, addTags, removeTags)].includes(true),
        )
        .map(({ book }) => book.bookId)
      // One statement changes them all, at one time.
      for (const { bookId } of found) {
        const events = library.events.get(bookId) ?? []
        library.events.set(
          bookId,
          events.map((event) => (event.at > start ? { ...event, at: start + 1 } : event)),
        )
      }
      return {
        status: 200,
        body: {
          changed: ids.filter((id) => changed.includes(id)),
          unchanged: ids.filter((id) => !changed.includes(id) && found.some(({ bookId }) => bookId === id)),
          missing: ids.filter((id) => found.every(({ bookId }) => bookId !== id)),
        },
      }
    }
    return { method: 'PATCH', path: '/books', body: { ids, set, addTags, removeTags }, respond }
  },
)

const remove = command('delete books', 2, someBooks, (library, indices) => {
  const ids = idsOf(library, indices)
  if (ids.length === 0) return undefined
  const respond = (library: Library) => {
    const deleted = ids.filter((id) => findBook(library, id))
    for (const id of deleted) trashBook(library, id)
    return { status: 200, body: { deleted, left: [], missing: ids.filter((id) => !deleted.includes(id)) } }
  }
  return { method: 'POST', path: '/books/delete', body: { ids }, respond }
})

export const manyBooksCommands: Commands[] = [update, remove]
