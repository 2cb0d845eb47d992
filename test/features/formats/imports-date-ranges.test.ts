import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/transfer/entries/entry'
import { randomFrom } from '../../support/inputs/malformed-files'
import { readRow } from '../../support/transfer/import-files'

const datesOf = ({ readings }: Entry) => readings.map(({ startedAt, finishedAt }) => [startedAt, finishedAt])
const readDates = (Finished: string, more: Record<string, string> = {}) => {
  const entry = readRow({ Title: 'A', Author: 'B', Status: 'read', ...more, Finished })
  return [...datesOf(entry), ...entry.losses.map(({ field }) => field)]
}
const REPORTED = ['Finished']

describe('a cell', () => {
  it.each([
    'January 5, 2024 → January 9, 2024',
    'January 5, 2024 10:00 AM (GMT+9) → January 9, 2024 11:30 PM (GMT+9)',
    '2024-01-05 - 2024-01-09',
    '2024-01-05/2024-01-09',
    '2024-01-05T10:20:30.123+09:00 – 2024-01-09T10:20Z',
    '2024.01.05~2024.01.09',
    '2024. 1. 5. ~ 2024. 1. 9.',
    '2024년 1월 5일 ~ 2024년 1월 9일',
    '2024年1月5日(金)〜2024年1月9日(火)',
    '24년 1월 5일 - 24년 1월 9일',
    '5. Januar 2024 bis 9. Jan. 2024',
    '5 janvier 2024 au 9 janvier 2024',
    '5 de enero de 2024 al 9 de enero de 2024',
    '5 de janeiro de 2024 até 9 de jan de 2024',
    '5-Jan-2024 to 9-Jan-2024',
  ])('with the range %s has start and finish', (cell) => {
    expect(readDates(cell)).toEqual([['2024-01-05', '2024-01-09']])
  })

  it.each([
    '2023-12-28, 2024-05-01',
    '2024-05-01; 2023-12-28',
    'Dec 28, 2023, May 1, 2024',
    '2023-12-28\n2024-05-01',
    '28. Dezember 2023 und 1. Mai 2024',
    '2023. 12. 28. & 2024. 5. 1.',
  ])('with the finishes %s has readings', (cell) => {
    expect(readDates(cell)).toEqual([
      [null, '2023-12-28'],
      [null, '2024-05-01'],
    ])
  })

  it.each([
    '2023-12-28 (again 2024-05-01)',
    '2024-01-05 2025-03-02',
    '2024-01-05 - 2024-01-09 - 2024-02-01',
    '2024-01-05 →',
    '2024-01-05-10',
    '2024-01-05 -10',
    '2024. 1. 5. ~ 9.',
    '2024-01-05 ~ 01-09',
    'Jan 5 – 9, 2024',
    '5–9 January 2024',
    '5.–9.1.2024',
    '2024-01-05 DNF',
    '2024-01-05, DNF',
    'maybe 2024',
    '2024-01-05?',
  ])('with %s is reported', (cell) => {
    expect(readDates(cell)).toEqual(REPORTED)
  })

  it.each([
    [
      '2024-01-09',
      '2023-12-28, 2024-01-30',
      [
        [null, '2023-12-28'],
        ['2024-01-09', '2024-01-30'],
      ],
    ],
    [
      '2023-12-01',
      '2023-12-28, 2024-01-30',
      [
        ['2023-12-01', '2023-12-28'],
        [null, '2024-01-30'],
      ],
    ],
    [
      '2023-12-01, 2024-01-09',
      '2023-12-28, 2024-01-30',
      [
        ['2023-12-01', '2023-12-28'],
        ['2024-01-09', '2024-01-30'],
      ],
    ],
    ['2024-01-09', '2024-01-09 - 2024-01-30', [['2024-01-09', '2024-01-30']]],
    ['2024-01-05', '2024-01-09 - 2024-01-30', [['2024-01-09', '2024-01-30'], 'Started']],
    ['2024-01-05 → 2024-01-09', '', [['2024-01-05', '2024-01-09']]],
    ['2024-01-09', '2023-12-28', [[null, '2023-12-28'], 'Started']],
  ])('with the starts %s and the finishes %s has readings', (Started, finished, expected) => {
    expect(readDates(finished, { Started })).toEqual(expected)
  })

  it('has a time after noon', () => {
    const added = (cell: string) => readRow({ Title: 'A', 'Date Added': cell }).addedAt
    expect(added('2024-01-09 3:20 PM')).toBe('2024-01-09T15:20:00')
    expect(added('2024. 1. 9. 오후 3:20')).toBe('2024-01-09T15:20:00')
  })
})

const GLUES = [
  '',
  ' ',
  ', ',
  ' - ',
  '-',
  ' → ',
  '/',
  ' to ',
  ' and ',
  '; ',
  ' again ',
  ' (',
  ')',
  ' x',
  '?',
  ' 10:20',
  ' -10',
  ' ~ ',
  '\n',
  'T',
  '+09:00',
  '.',
  '~01',
  ' UTC',
  ' KST',
  ' 5',
]
const random = randomFrom(4)
const pick = <Item>(items: Item[]) => items[random(items.length)] as Item

it('with several dates in any text is read as a whole, or reported', () => {
  const counts = { read: 0, reported: 0 }
  for (let run = 0; run < 500; run++) {
    const dates = Array.from({ length: 1 + random(3) }, () => `20${10 + random(15)}-0${1 + random(9)}-1${random(9)}`)
    const cell = dates.map((date) => date + pick(GLUES) + (random(3) ? '' : pick(GLUES))).join('')
    const { readings, losses } = readRow({ Title: 'A', Status: 'read', Finished: cell })
    // The plainest reader: all dates are in the library, and the rest is nothing but times and what separates dates.
    const stored = readings
      .flatMap(({ startedAt, finishedAt }) => [startedAt, finishedAt])
      .filter((date) => date !== null)
    const rest = cell.replaceAll(/\d{4}-\d\d-\d\d/g, '').replaceAll(/[T ]10:20(?:[+]09:00| ?UTC| ?KST)?|[+]09:00/g, '')
    const isAll = stored.toSorted().join() === dates.toSorted().join() && !/[\dx?(]|again/.test(rest)
    expect({ cell, isTold: isAll || losses.some(({ code }) => code === 'bad-date') }).toEqual({ cell, isTold: true })
    counts[losses.length > 0 ? 'reported' : 'read'] += 1
  }
  expect(Math.min(counts.read, counts.reported)).toBeGreaterThan(30)
})
