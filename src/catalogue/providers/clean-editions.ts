import { MAX_COVER, MAX_INT, MAX_NAME } from '../../values/contract'
import { decodeEntities } from '../../values/text/html'
import { toIsbn } from '../../values/text/isbn'
import type { CatalogueEdition } from '../schema'

const MAX_ENTRIES = 10

/** Decodes entities, collapses white space, and cuts to what a book can have. Null when nothing is left. */
const cleanText = (html: unknown) => {
  const text =
    typeof html === 'string'
      ? decodeEntities(html)
          .toWellFormed()
          .replace(/[\s\0]+/g, ' ')
          .trim()
      : ''
  return text === '' ? null : [...text.slice(0, 2 * MAX_NAME)].slice(0, MAX_NAME).join('')
}

const toCover = (url: unknown) => {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  return parsed?.protocol === 'https:' && parsed.href.length <= MAX_COVER ? parsed.href : null
}

const toPages = (pages: unknown) =>
  typeof pages === 'number' && Number.isInteger(pages) && pages > 0 && pages <= MAX_INT ? pages : null

// Not String(), which calls methods of an object.
const toText = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? `${value}` : '')

/** The first valid one of some ISBNs. */
const pickIsbn = (isbns: readonly unknown[]) => {
  const found = isbns.map((isbn) => toIsbn(toText(isbn)))
  return found.flatMap((each) => ('isbn' in each ? each.isbn : []))[0] ?? null
}

// The library's codes that name no language: undetermined, several, none.
const NO_LANGUAGE = /^(?:und|mul|zxx)$/
/** The tag of a language by its ISO 639 code: `de` for `ger`. */
const toLanguage = (code: unknown) => {
  if (typeof code !== 'string' || !/^[a-z]{2,3}$/.test(code) || NO_LANGUAGE.test(code)) return null
  return new Intl.Locale(code).language
}

/** The year in a date of any form. */
const toYear = (date: unknown) => {
  const [year] = (typeof date === 'string' && /\b[12]\d{3}\b/.exec(date)) || []
  return year === undefined ? null : Number(year)
}

const ID = /^[!-~]{1,100}$/
const toSourceIds = (ids: Record<string, unknown> = {}) =>
  Object.entries(ids)
    .filter(([, id]) => ID.test(toText(id)))
    .map(([source, id]) => `${source}:${id}`)

export type RawEdition = Partial<
  Record<Exclude<keyof CatalogueEdition, 'isbn' | 'publishedYear' | 'sourceIds'>, unknown>
> & {
  isbns?: readonly unknown[] | null | undefined
  publishDate?: unknown
  /** By the name of their service. */
  ids?: Record<string, unknown>
}

/** The first ten entries with a title. Values that a book cannot have, such as a cover without https, become null. */
export const cleanEditions = (raw: RawEdition[]): CatalogueEdition[] =>
  raw
    .flatMap((each) => {
      const title = cleanText(each.title)
      if (title === null) return []
      return {
        title,
        subtitle: cleanText(each.subtitle),
        author: cleanText(each.author),
        publisher: cleanText(each.publisher),
        cover: toCover(each.cover),
        itemPage: toPages(each.itemPage),
        isbn: pickIsbn(each.isbns ?? []),
        language: toLanguage(each.language),
        publishedYear: toYear(each.publishDate),
        sourceIds: toSourceIds(each.ids),
      }
    })
    .slice(0, MAX_ENTRIES)
