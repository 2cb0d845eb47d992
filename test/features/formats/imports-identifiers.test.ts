import { describe, expect, it } from 'vitest'
import { read } from '../../support/transfer/import-files'

/** Columns of identifiers by header, with their sources. */
const COLUMNS: [header: string, column: string, source: string][] = [
  ['Book Id,Title,Author,My Rating,Exclusive Shelf', 'Book Id', 'goodreads'],
  ['Title,Author,Status,Hardcover Book ID,Hardcover Edition ID,Privacy', 'Hardcover Book ID', 'hardcover'],
  ['Title,Author,Status,Hardcover Book ID,Hardcover Edition ID,Privacy', 'Hardcover Edition ID', 'hardcover-edition'],
  ['Book Id,Title,Primary Author,Work id,Sort Character', 'Book Id', 'librarything'],
  ['Book Id,Title,Primary Author,Work id,Sort Character', 'Work id', 'librarything-work'],
  ['title,author_text,remote_id,goodreads_key,librarything_key,isfdb', 'goodreads_key', 'goodreads'],
  ['title,author_text,remote_id,goodreads_key,librarything_key,isfdb', 'librarything_key', 'librarything-work'],
  ['title,author_text,remote_id,goodreads_key,librarything_key,isfdb', 'isfdb', 'isfdb'],
]

/** What spreadsheets and scripts make of a number. */
const DAMAGES: Record<string, (id: string) => string> = {
  'scientific notation': (id) => `${id[0]}.${id.slice(1, 3)}E+08`,
  'scientific notation with a comma': (id) => `${id[0]},${id.slice(1, 3)}E+08`,
  'scientific notation without a fraction': (id) => `${id[0]}E+08`,
  'a column that is too narrow': () => '########',
  'an error': () => '#NAME?',
  'groups of digits': (id) => id.replace(/\B(?=(?:\d{3})+$)/g, ','),
  'groups of digits with dots': (id) => id.replace(/\B(?=(?:\d{3})+$)/g, '.'),
  'groups of digits with blanks': (id) => id.replace(/\B(?=(?:\d{3})+$)/g, '\u00a0'),
  money: (id) => `$${id}.00`,
  'a percentage': (id) => `${id}00%`,
  'a date': () => '3/14/2026',
  'a negative number': (id) => `-${id}`,
  'a fraction': (id) => `${id}.5`,
  'no number': () => 'NaN',
  'no value': () => 'None',
  'the number 0': () => '0',
  'a word': () => 'TRUE',
}
/** What they make of it without a loss. */
const KEPT: Record<string, (id: string) => string> = {
  itself: (id) => id,
  'a formula': (id) => `="${id}"`,
  'a text': (id) => `'${id}`,
  'a decimal number': (id) => `${id}.0`,
}
const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`

const readTwo = ([header, column]: (typeof COLUMNS)[number], change: (id: string) => string) => {
  const row = (title: string, author: string, id: string) =>
    header.split(',').map((name) => {
      if (name === column) return quote(change(id))
      if (/^title$/i.test(name)) return title
      return /author/i.test(name) ? author : /status/i.test(name) ? 'Read' : ''
    })
  return read(
    [header, row('Quiet Harbour', 'Ana Reed', '242000017'), row('Other Shore', 'Ben Field', '242000018')].join('\n'),
  ).entries
}

describe.each(COLUMNS)('the identifiers of the file %s in the column %s', (...column) => {
  const [, name, source] = column
  const isOwn = (id: string) => id.startsWith(`${source}:`)

  it.each(Object.entries(DAMAGES))('are none after %s', (_, damage) => {
    for (const { sourceIds, losses, failure } of readTwo(column, damage)) {
      expect(sourceIds.filter(isOwn)).toEqual([])
      expect(losses).toContainEqual({ code: 'bad-identifier', field: name })
      expect(failure).toBeNull()
    }
  })

  it.each(Object.entries(KEPT))('are those of the service as %s', (_, keep) => {
    const entries = readTwo(column, keep)
    expect(entries.map(({ sourceIds }) => sourceIds)).toEqual([[`${source}:242000017`], [`${source}:242000018`]])
    expect(entries.flatMap(({ losses }) => losses)).not.toContainEqual({ code: 'bad-identifier', field: name })
  })
})

describe('an identifier', () => {
  it.each([
    ['goodreads', '81234.The_Salt_Archive'],
    ['asin', '446675504'],
    ['openlibrary', '12'],
    ['wikidata', '42'],
    ['storygraph', '0f8fad5b'],
    ['douban', '3.5E7'],
    ['anything', '2.42E+08'],
    ['anything', '#REF!'],
  ])('of %s is not %s', (source, id) => {
    const [entry] = read(`Title,Source Id\nA,${source}:${id}\n`).entries
    expect(entry).toMatchObject({ sourceIds: [], losses: [{ code: 'bad-identifier', field: 'Source Id' }] })
  })

  it.each(['asin:B0ABCDEF12', 'openlibrary:OL12M', 'wikidata:Q42', 'google:1E5', 'oclc:ocm00012345', 'x:1'])(
    'can be %s',
    (id) => expect(read(`Title,Source Id\nA,${id}\n`).entries[0]).toMatchObject({ sourceIds: [id], losses: [] }),
  )
})
