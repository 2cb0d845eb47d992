import { describe, expect, it } from 'vitest'
import { read } from '../../support/transfer/import-files'

/** Titles of the volumes 1, 2 and 3, or as many as there are words for, each list in one language and form. */
const VOLUMES: Record<string, string[]> = {
  'a number': ['Land 1', 'Land 2', 'Land 10'],
  'a number with zeros': ['Land 01', 'Land 02', 'Land 10'],
  'a number in brackets': ['Land (1)', 'Land (2)', 'Land (3)'],
  'a Roman number': ['Land I', 'Land II', 'Land IV'],
  'a character of a number': ['Land Ⅰ', 'Land Ⅱ', 'Land ③'],
  'letters after a word': ['Land, Volume A', 'Land, Volume B', 'Land, Volume C'],
  'the whole set': ['Land 1', 'Land 1-3', 'Land (Box Set)'],
  'a series in brackets': ['Land (Harbour, #1)', 'Land (Harbour, #2)', 'Land (Harbour Book 3)'],
  'a subtitle for each': ['Land 1: The Start', 'Land 2: The Middle', 'Land 3: The End'],
  'a title for each': ['Start: Land, Book 1', 'Middle: Land, Book 2', 'End: Land, Book 3'],
  English: ['Land, Volume One', 'Land, Volume Two', 'Land, Volume Three'],
  'English ordinals': ['Land, First Book', 'Land, Second Book', 'Land, 3rd Book'],
  German: ['Land. Erster Band', 'Land. Zweiter Band', 'Land. Dritter Band'],
  'German numbers': ['Land, Bd. 1', 'Land, Bd. 2', 'Land, Teil 3'],
  French: ['Terre, tome premier', 'Terre, tome deuxième', 'Terre, 3ème tome'],
  Spanish: ['Tierra. Primera parte', 'Tierra. Segunda parte', 'Tierra. Tercera parte'],
  Portuguese: ['Terra: volume um', 'Terra: volume dois', 'Terra: terceiro volume'],
  Italian: ['Terra. Libro primo', 'Terra. Libro secondo', 'Terra. Libro terzo'],
  Dutch: ['Land, eerste deel', 'Land, tweede deel', 'Land, deel 3'],
  Swedish: ['Land. Första delen', 'Land. Andra delen', 'Land. Tredje delen'],
  Polish: ['Ziemia. Część pierwsza', 'Ziemia. Część druga', 'Ziemia. Tom 3'],
  Russian: ['Земля. Книга первая', 'Земля. Книга вторая', 'Земля. Том 3'],
  Korean: ['토지 상', '토지 중', '토지 하'],
  'Korean in brackets': ['토지(상)', '토지(중)', '토지(하)'],
  'Korean without a blank': ['토지상', '토지중', '토지하'],
  'Korean with a counter': ['토지 상권', '토지 중권', '토지 하권'],
  'Korean numbers': ['토지 1권', '토지 2권', '토지 제3권'],
  'Korean ordinals': ['토지 첫째 권', '토지 둘째 권', '토지 셋째 권'],
  Japanese: ['海の本 上', '海の本 中', '海の本 下'],
  'Japanese without a blank': ['海の本上巻', '海の本中巻', '海の本下巻'],
  'Japanese in brackets': ['海の本（上）', '海の本（中）', '海の本（下）'],
  'Japanese numbers': ['海の本 第一巻', '海の本 第二巻', '海の本 第十一巻'],
  'Japanese parts': ['海の本 前編', '海の本 後編'],
  Chinese: ['海之书 上册', '海之书 中册', '海之书 下册'],
  'Chinese numbers': ['海之书 卷一', '海之书 卷二', '海之书 卷三'],
  'Chinese parts': ['海之书第一部', '海之书第二部', '海之书第三部'],
}
/** Titles of one book. */
const SAME: [one: string, other: string][] = [
  ['Land, Part II', 'Land: Part Two'],
  ['Land Vol. 01', 'Land, Volume One'],
  ['Land (Harbour, #2)', 'Land'],
  ['Land: A Novel', 'Land'],
  ['Land, 2nd Edition', 'Land'],
  ['Land (1998)', 'Land'],
  ['Catch-22', 'Catch 22: 50th Anniversary Edition'],
  ['A Book of Hours', 'Book of Hours'],
  ['1984', 'Nineteen Eighty-Four'],
  ['土地 第2部', '土地 第二部'],
]

const toFile = (header: string, shared: string, titles: string[]) =>
  [`Title,Author,${header}`, ...titles.map((title) => `"${title}",Ana Reed,${shared}`)].join('\n')
/** The titles of the rows that are books of their own. */
const booksOf = (file: string) => read(file).entries.flatMap(({ title, failure }) => (failure ? [] : [title]))

describe.each([
  ['ISBN', 'ISBN', '9788936434120'],
  ['identifier', 'Source Id', 'x:242000000'],
])('titles of one %s', (_, header, shared) => {
  it.each(Object.entries(VOLUMES))('are several books if they differ in a volume: %s', (_, titles) => {
    expect(booksOf(toFile(header, shared, titles))).toEqual(titles)
    expect(booksOf(toFile(header, shared, [...titles, ...titles]))).toEqual(titles)
  })

  it.each(SAME)('are one book if they are the same volume: %s, %s', (one, other) => {
    expect(booksOf(toFile(header, shared, [one, other]))).toEqual([one])
    expect(booksOf(toFile(header, shared, [other, one]))).toEqual([other])
  })

  it('are several books if a column has the number', () => {
    for (const column of [header, 'Publisher']) {
      const rows = [1, 2, 2, ''].map((number) => `토지,박경리,${number},${shared}`)
      const { entries } = read([`제목,저자,권,${column}`, ...rows].join('\n'))
      expect(entries.map(({ failure }) => failure !== null)).toEqual([false, false, true, true])
    }
  })

  it('are several books if one has no number', () => {
    expect(booksOf(toFile(header, shared, ['Land', 'Land 2']))).toEqual(['Land', 'Land 2'])
  })
})
