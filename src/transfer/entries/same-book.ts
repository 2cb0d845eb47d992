import type { Entry } from './entry'
import { toAuthorKeys, toFullTitle, toNameStarts, toTitle } from './names'
import { areNumberedApart, areVolumes, differ, toVolume, type Volume } from './volumes'

// Identifiers are not always those of the book: converters number rows, spreadsheets round numbers, and the volumes of a
// box set may have one ISBN.

/** What the names of a book say about which one it is. An unknown author has no keys. */
export type About = {
  key: string
  /** The numbers in the series that the title names, and in the series of the book. */
  number: string
  seriesNumber: number | null
  shortKeys: string[]
  volume: Volume
  head: Volume
  authors: string[]
  /** The beginnings of the names of all authors. */
  names: Set<string>
}

export const toAbout = (book: Pick<Entry, 'title' | 'subtitle' | 'author' | 'seriesNumber'>): About => {
  const { bare, head, key, number = '', shortKeys } = toTitle(toFullTitle(book))
  const isNamed = book.author !== null && !/^(?:unknown|various|anonymous|n\/?a|none)\b/i.test(book.author)
  return {
    ...{ key, number, seriesNumber: book.seriesNumber, shortKeys, volume: toVolume(bare), head: toVolume(head) },
    authors: isNamed ? toAuthorKeys(book.author) : [],
    names: toNameStarts(isNamed ? book.author : null),
  }
}

/** Whether the titles are the same, or one has a subtitle or an edition more. */
export const sharesTitle = (one: About, other: About) =>
  one.key === other.key || one.shortKeys.includes(other.key) || other.shortKeys.includes(one.key)

/** Whether the first author is the same, or two of the authors' names begin alike, or the only one of a book does. */
const sharesAuthor = (one: About, other: About) => {
  if (one.authors.some((author) => other.authors.includes(author))) return true
  const { size } = one.names.intersection(other.names)
  return size > 1 || (size === 1 && Math.min(one.names.size, other.names.size) === 1)
}

const agree = (one: About, other: About) => sharesTitle(one, other) || sharesAuthor(one, other)

const areInSeries = (one: About, other: About) =>
  differ(one.number, other.number) || areNumberedApart(one.head, other.head)

/** Whether books with the same ISBN or names, or in one file with the same identifier, are the same. */
export const isSameBook = (one: About, other: About) =>
  agree(one, other) &&
  !areVolumes(one.volume, other.volume) &&
  !areInSeries(one, other) &&
  !differ(`${one.seriesNumber ?? ''}`, `${other.seriesNumber ?? ''}`)

/** Whether a book that has the identifier of an entry is its book. Its title may have been edited. */
export const isIdentified = (one: About, other: About) =>
  agree(one, other) && !areNumberedApart(one.volume, other.volume) && !areInSeries(one, other)
