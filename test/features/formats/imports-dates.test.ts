import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { randomFrom } from '../../support/inputs/malformed-files'
import { read } from '../../support/transfer/import-files'
import { type Order, orderOfColumn, readingsOf } from '../../support/transfer/short-dates'

/** What a file says of the finish of each row: the date, or the loss. */
const finishesOf = (header: string, cells: string[], ...before: string[]) =>
  read(
    `${header}\n${cells.map((cell, at) => `A${at},B,${before.map((other) => `"${other}",`).join('')}"${cell}"\n`).join('')}`,
  ).entries.map(
    ({ readings, losses }) =>
      readings.at(-1)?.finishedAt ?? losses.map(({ field }) => field.replace(/^.*?: /, '')).join(),
  )

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 10, 26), toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('a short date', () => {
  it('has the year where the language of the header writes it', () => {
    const dates = ['24.01.09', '24.12.31']
    expect(finishesOf('제목,저자,종료일', dates)).toEqual(['2024-01-09', '2024-12-31'])
    expect(finishesOf('タイトル,著者,読了日', dates)).toEqual(['2024-01-09', '2024-12-31'])
    expect(finishesOf('Titel,Autor,Beendet', ['14.03.26', '02.01.24'])).toEqual(['2026-03-14', '2024-01-02'])
    expect(finishesOf('Título,Autora,Fecha de fin', ['03/04/26'])).toEqual(['2026-04-03'])
  })

  it('has the year where dates with four digits beside it have it', () => {
    const [header, dates] = ['Title,Author,Started,Finished', ['24.01.09']]
    expect(finishesOf(header, dates, '2024년 1월 5일')).toEqual(['2024-01-09'])
    expect(finishesOf(header, dates, '2024.01.05')).toEqual(['2024-01-09'])
    expect(finishesOf(header, ['03/04/26'], '2/28/2026')).toEqual(['2026-03-04'])
    const unknown = ['24.01.09 is 2024-01-09 or 2009-01-24']
    expect(finishesOf('Title,Author,Finished', dates)).toEqual(unknown)
    expect(finishesOf(header, dates, '2024-01-05')).toEqual(unknown)
  })

  it('has the order of its column, in which no date is in the future', () => {
    const header = 'Title,Author,Finished'
    expect(finishesOf(header, ['24.01.09', '98.12.31'])).toEqual(['2024-01-09', '1998-12-31'])
    expect(finishesOf(header, ['24.01.09', '24.12.31'])).toEqual(['2024-01-09', '2024-12-31'])
    expect(finishesOf(header, ['14.03.26', '30.11.25'])).toEqual(['2026-03-14', '2025-11-30'])
  })

  it('may have the name of its month', () => {
    const header = 'Title,Author,Finished'
    expect(finishesOf(header, ['9-Jan-24', '24-Jan-09'])).toEqual(['2024-01-09', '2009-01-24'])
    expect(finishesOf(header, ['14 März 26', '28-Feb-24'])).toEqual(['2026-03-14', '2024-02-28'])
    expect(finishesOf(header, ['24-Jan-09'])).toEqual(['24-Jan-09 is 2024-01-09 or 2009-01-24'])
    expect(finishesOf('제목,저자,종료일', ['24-Jan-09'])).toEqual(['2024-01-09'])
    // The month of a year, or a day of it.
    expect(finishesOf(header, ['Jan-24', '9-Sal-24'])).toEqual(['Finished', 'Finished'])
  })

  it('in the future is reported', () => {
    expect(read('Title,Finished\nA,2031-12-24\nB,2026-11-27\n').entries).toMatchObject([
      { readings: [], losses: [{ code: 'bad-date', field: 'Finished: 2031-12-24' }] },
      { readings: [{ finishedAt: '2026-11-27' }], losses: [] },
    ])
  })
})

it('a date may have no separators, or be a month of a year', () => {
  const header = 'Title,Author,Finished'
  expect(finishesOf(header, ['20240109', '19991231', '20240230', '09012024'])).toEqual([
    ...['2024-01-09', '1999-12-31', 'Finished', 'Finished'],
  ])
  expect(finishesOf(header, ['03/2024', '3.2024', '12-2024', '13/2024', '03/2024 - 05/2024'])).toEqual([
    ...['2024-03', '2024-03', '2024-12', 'Finished', '2024-05'],
  ])
})

const HEADERS: Record<string, [header: string, orders: Order[]]> = {
  English: ['Title,Author,Finished', ['YMD', 'DMY', 'MDY']],
  Korean: ['제목,저자,완독일', ['YMD']],
  Japanese: ['タイトル,著者,読了日', ['YMD']],
  German: ['Titel,Autor,Beendet', ['DMY']],
  French: ['Titre,Auteur,Terminé le', ['DMY']],
  Portuguese: ['Título,Autor,Data de término', ['DMY']],
}
const SEPARATORS = ['.', '-', '/', '. ', '/ ']
const STYLES = Object.entries(HEADERS).flatMap(([language, [header, orders]]) =>
  orders.flatMap((order) =>
    SEPARATORS.flatMap((separator) =>
      [2, 4].map((digits) => ({ language, header, order, separator, digits, isPadded: digits === 2 })),
    ),
  ),
)

describe('dates in thirty orders and separators of six languages', () => {
  it.each(Object.keys(HEADERS))('are those of the file, or reported: %s', (language) => {
    const random = randomFrom(language.length)
    const upTo = (most: number) => 1 + random(most)
    const counts = { read: 0, reported: 0 }
    for (const style of STYLES.filter((style) => style.language === language)) {
      const { header, order, separator, digits, isPadded } = style
      if (order === 'MDY' && separator.startsWith('.')) continue
      for (const size of [1, 3, 12]) {
        const dates = Array.from({ length: size }, () => [1999 + upTo(26), upTo(12), upTo(28)] as const)
        const cells = dates.map(([year, month, day]) => {
          const parts = { Y: String(year).slice(-digits), M: String(month), D: String(day) }
          const pad = (part: string) => (isPadded ? part.padStart(2, '0') : part)
          return [...order].map((name) => pad(parts[name as 'Y'])).join(separator)
        })
        const truth = dates.map(([year, month, day]) =>
          new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10),
        )
        const columnOrder = orderOfColumn(cells, language)
        const expected = cells.map((cell) => {
          const readings = readingsOf(cell, columnOrder)
          return readings.length === 1 ? readings[0] : `${cell} is ${readings.join(' or ')}`
        })
        const finishes = finishesOf(header, cells)
        expect({ style, finishes }).toEqual({ style, finishes: expected })
        for (const [at, finish = ''] of finishes.entries()) {
          expect(finish).toContain(truth[at])
          counts[finish === truth[at] ? 'read' : 'reported'] += 1
        }
      }
    }
    expect(counts.read).toBeGreaterThan(100)
    expect(counts.reported > 0).toBe(language === 'English')
  })
})
