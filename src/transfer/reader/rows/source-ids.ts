import { MAX_SOURCE_ID, SOURCE_ID } from '../../../library/editions/schema'
import type { Code } from '../../entries/entry'

const NUMBER = /^[1-9]\d{0,11}$/
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const MD5 = /^[\da-f]{32}$/i
const ASIN = /^[\dA-Z]{10}$/
const OPEN_LIBRARY = /^(?:\/(?:books|works)\/)?OL[1-9]\d{0,11}[MW]$/i
/** The forms of the identifiers of services. Others can be anything but a number that a spreadsheet wrote. */
const FORMS: Record<string, RegExp> = {
  goodreads: NUMBER,
  hardcover: NUMBER,
  'hardcover-edition': NUMBER,
  librarything: NUMBER,
  'librarything-work': NUMBER,
  douban: NUMBER,
  viaf: /^[1-9]\d{0,21}$/,
  isfdb: NUMBER,
  oclc: /^(?:oc[mn]|on)?\d{1,14}$/i,
  wikidata: /^Q[1-9]\d{0,11}$/i,
  openlibrary: OPEN_LIBRARY,
  'openlibrary-edition': OPEN_LIBRARY,
  inventaire: /^(?:inv|wd|isbn):\w{1,50}$/i,
  asin: ASIN,
  audible: ASIN,
  storygraph: UUID,
  calibre: UUID,
  koreader: MD5,
  'koreader-partial': MD5,
  bookwyrm: /^https?:\/\/[^\s/]+\/./i,
}

/** What spreadsheets and scripts write for a number that they cannot show, or a value that they lack. */
const DAMAGED = /^(?:[-+]?\d+(?:[.,]\d*)?E[-+]\d+|#.*|nan|none|null|undefined)$/i

/** The identifier in a cell, or the code of the loss if it is not valid. An empty cell has neither. */
export const parseSourceId = (source: string, cell: string): { sourceId?: string; code?: Code } => {
  const form = FORMS[source]
  // `="123"` and `'123` keep a spreadsheet from changing a number. `123.0` is how tables of numbers write it.
  const text = cell
    .replace(/^=?"(.*)"$/, '$1')
    .replace(/^'/, '')
    .trim()
  const id = form === NUMBER ? text.replace(/\.0$/, '') : text
  if (!id) return {}
  if (DAMAGED.test(id) || (form && !form.test(id))) return { code: 'bad-identifier' }
  const sourceId = `${source}:${id}`
  return sourceId.length > MAX_SOURCE_ID || !SOURCE_ID.test(sourceId) ? { code: 'not-supported' } : { sourceId }
}
