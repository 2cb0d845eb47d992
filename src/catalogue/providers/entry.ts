import { decodeXML } from 'entities'
import { MAX_INT } from '../../db/schema'
import type { CatalogueEntry } from '../schema'

const MOST = 10

// decodeXML knows numbers and XML's five names. All of HTML's would be a seventh of the Worker, so these are the ones
// that titles are written with.
const NAMED: Record<string, string> = {
  nbsp: ' ',
  middot: '·',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  times: '×',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  ntilde: 'ñ',
}
const decode = (html: string) => decodeXML(html.replace(/&(\w+);/g, (entity, name) => NAMED[name] ?? entity))

/** A text as a person reads it, or null where there is none. */
const toText = (html: unknown) => {
  const text = typeof html === 'string' ? decode(html).replace(/\s+/g, ' ').trim() : ''
  return text === '' ? null : text
}

const toCover = (url: unknown) => {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  return parsed?.protocol === 'https:' ? parsed.href : null
}

const toPages = (pages: unknown) =>
  typeof pages === 'number' && Number.isInteger(pages) && pages > 0 && pages <= MAX_INT ? pages : null

type Found = Partial<Record<keyof CatalogueEntry, unknown>>

/** At most ten entries of what a provider found: one without a title is none, a cover is one by https only. */
export const toEntries = (found: Found[]): CatalogueEntry[] =>
  found
    .flatMap(({ title, author, cover, publisher, itemPage }) => {
      const named = toText(title)
      if (named === null) return []
      return {
        title: named,
        author: toText(author),
        cover: toCover(cover),
        publisher: toText(publisher),
        itemPage: toPages(itemPage),
      }
    })
    .slice(0, MOST)
