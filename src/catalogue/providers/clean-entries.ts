import { MAX_INT } from '../../values/contract'
import { decodeEntities } from '../../values/text/html'
import type { CatalogueEntry } from '../schema'

const MAX_ENTRIES = 10

/** Decodes entities and collapses white space; null when nothing is left. */
const toText = (html: unknown) => {
  const text = typeof html === 'string' ? decodeEntities(html).replace(/\s+/g, ' ').trim() : ''
  return text === '' ? null : text
}

const toCover = (url: unknown) => {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  return parsed?.protocol === 'https:' ? parsed.href : null
}

const toPages = (pages: unknown) =>
  typeof pages === 'number' && Number.isInteger(pages) && pages > 0 && pages <= MAX_INT ? pages : null

type RawEntry = Partial<Record<keyof CatalogueEntry, unknown>>

/** The first ten entries that have a title. Covers that are not https URLs and invalid page counts become null. */
export const cleanEntries = (raw: RawEntry[]): CatalogueEntry[] =>
  raw
    .flatMap(({ title, author, cover, publisher, itemPage }) => {
      const cleanTitle = toText(title)
      if (cleanTitle === null) return []
      return {
        title: cleanTitle,
        author: toText(author),
        cover: toCover(cover),
        publisher: toText(publisher),
        itemPage: toPages(itemPage),
      }
    })
    .slice(0, MAX_ENTRIES)
