import { MAX_COVER, MAX_INT, MAX_NAME } from '../../values/contract'
import { decodeEntities } from '../../values/text/html'
import type { CatalogueEntry } from '../schema'

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

type RawEntry = Partial<Record<keyof CatalogueEntry, unknown>>

/** The first ten entries that have a title. Covers that are not https URLs and invalid page counts become null. */
export const cleanEntries = (raw: RawEntry[]): CatalogueEntry[] =>
  raw
    .flatMap(({ title, author, cover, publisher, itemPage }) => {
      const cleanTitle = cleanText(title)
      if (cleanTitle === null) return []
      return {
        title: cleanTitle,
        author: cleanText(author),
        cover: toCover(cover),
        publisher: cleanText(publisher),
        itemPage: toPages(itemPage),
      }
    })
    .slice(0, MAX_ENTRIES)
