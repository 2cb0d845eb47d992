import { expect } from 'vitest'
import type { StatisticsResult } from '../../../src/transfer/entries/reader-protocol'
import { readStatistics } from '../../../src/transfer/reader/statistics/read-statistics'
import { randomFrom } from '../inputs/malformed-files'
import { readMissing } from './compare'
import { md5Of, type StatisticsRow, writeStatistics } from './write-file'

// Random devices that read, forget and upload, and what has counted, in plain maps.

type Random = ReturnType<typeof randomFrom>
/** By document, start and page. */
type Rows = Map<string, StatisticsRow>
type Durations = Map<string, number>

const ZONES = [
  'Pacific/Pago_Pago',
  'Pacific/Kiritimati',
  'Europe/Berlin',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'UTC',
]
/** Changes of time: back by an hour, at midnight, at a minute past midnight, by half an hour, and forward; the first and last times. */
const MOMENTS = [
  '2026-10-25T01:00:00Z',
  '2018-02-18T02:00:00Z',
  '2010-11-07T02:31:00Z',
  '2026-04-04T15:00:00Z',
  '2026-03-29T01:00:00Z',
  '1970-01-01T00:00:02Z',
  '9999-12-31T23:59:57Z',
].map((time) => Date.parse(time) / 1000)
const [FIRST, LAST] = [0, Date.parse('9999-12-31T23:59:59Z') / 1000]

const formats = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
  ]),
)
const localOf = (start: number, zone: string) => formats.get(zone)?.format(start * 1000) ?? ''
/** No row counts before 1970 or after 9999, wherever its member is. */
const dayOf = (start: number, zone: string) => {
  const [day = ''] = localOf(start, zone).split(' ')
  if (day.length > 10) return '9999-12-31'
  return day < '1970' ? '1970-01-01' : day
}

const pickFrom = <Item>(random: Random, items: Item[]) => items[random(items.length)] as Item
const toKey = ({ book, start, page }: StatisticsRow) => `${md5Of(book)} ${start} ${page}`
const documentOf = (key: string) => key.slice(0, 32)
const groupOf = (key: string, zone: string) => {
  const [document, start] = key.split(' ')
  return `${dayOf(Number(start), zone)} ${document}`
}
const keepLonger = (rows: Rows, key: string, row: StatisticsRow) => {
  if (row.duration > (rows.get(key)?.duration ?? 0)) rows.set(key, row)
}

const BOOKS = [1, 2, 3].map((id) => ({ id, title: `Title ${id}`, authors: '', md5: md5Of(id) }))

/** A start near a change of time, or near midnight in some zone. */
const drawStart = (random: Random) => {
  const moment = random(2) ? pickFrom(random, MOMENTS) : 1_790_000_000 - (1_790_000_000 % 86_400) + 86_400 * random(3)
  const start = moment + 1800 * (random(53) - 28) + random(5) - 2
  return Math.min(Math.max(random(3) ? start : moment + random(3) - 1, FIRST), LAST)
}

const drawRow = (random: Random): StatisticsRow => ({
  book: 1 + random(BOOKS.length),
  page: 1 + random(2),
  start: drawStart(random),
  duration: 1 + random(200),
})

export const createCases = () => ({
  'complete uploads': 0,
  parts: 0,
  'interrupted uploads': 0,
  'nothing new': 0,
  'longer durations': 0,
  'rows that the file lacks': 0,
  'lacking rows that are back': 0,
  'another zone': 0,
  'hours that occur twice': 0,
  'seconds around midnight': 0,
})
export type Cases = ReturnType<typeof createCases>

/** What a file adds, by day and document. */
const addUp = (counted: Durations, file: Rows, zone: string) => {
  const totals = new Map<string, number>()
  for (const [key, { duration }] of file) {
    const seconds = Math.max(0, duration - (counted.get(key) ?? 0))
    const group = groupOf(key, zone)
    if (seconds > 0) totals.set(group, (totals.get(group) ?? 0) + seconds)
  }
  return totals
}

/** Compares an answer with the plain sums, and counts the rows that it says are counted. */
const checkPart = (result: StatisticsResult, counted: Durations, file: Rows, zone: string, max: number) => {
  const totals = addUp(counted, file, zone)
  const added = result.added.map(({ document, day, seconds }) => ({
    group: `${day} ${result.documents[document]?.document}`,
    seconds,
  }))
  const groups = new Set(added.map(({ group }) => group))
  expect(added).toEqual(added.map(({ group }) => ({ group, seconds: totals.get(group) })))
  expect([groups.size, result.isComplete]).toEqual([Math.min(max, totals.size), totals.size <= max])
  const days = result.added.map(({ day }) => day)
  expect(days).toEqual(days.toSorted())
  for (const group of totals.keys()) if (!groups.has(group)) expect(group >= (days.at(-1) ?? '')).toBe(true)
  for (const [key, { duration }] of file) {
    if (groups.has(groupOf(key, zone))) counted.set(key, Math.max(duration, counted.get(key) ?? 0))
  }
}

/** The rows that are counted, but not or with a shorter duration in a file. */
const lackingIn = (file: Rows, counted: Durations) =>
  [...counted].filter(([key, duration]) => duration > (file.get(key)?.duration ?? 0)).sort()

const noteRows = (cases: Cases, file: Rows, counted: Durations, missing: Durations, zone: string) => {
  for (const [key, { start, duration }] of file) {
    const before = counted.get(key)
    if (before !== undefined && before < duration) cases['longer durations']++
    if (missing.has(key)) cases['lacking rows that are back']++
    const [local, hour] = [localOf(start, zone), localOf(start + 3600, zone)]
    if (local.slice(11, 13) === hour.slice(11, 13)) cases['hours that occur twice']++
    if (/23:59:5[89]|00:00:0[01]/.test(local)) cases['seconds around midnight']++
  }
}

/** Runs a random history of two devices, and compares each answer with plain sums. */
export const runUploads = (seed: number, cases: Cases) => {
  const random = randomFrom(seed)
  const devices: Rows[] = [new Map(), new Map()]
  const server = { file: null as Uint8Array | null, rows: new Map() as Rows, missing: null as Uint8Array | null }
  const counted: Durations = new Map()
  const completed: Durations = new Map()
  const totals = new Map<string, number>()
  let zone = pickFrom(random, ZONES)

  const upload = (device: Rows) => {
    // KOReader first merges the file of the server, unless that was not there yet.
    if (random(3)) for (const [key, row] of server.rows) keepLonger(device, key, row)
    const rows = new Map(device)
    const file = writeStatistics(BOOKS, rows.values())
    noteRows(cases, rows, counted, new Map(readMissing(server.missing)), zone)
    for (let isComplete = false; !isComplete; ) {
      const max = 1 + random(4)
      const result = readStatistics(file, server, { timeZone: zone, maxSittings: max })
      checkPart(result, counted, rows, zone, max)
      for (const { document, seconds } of result.added) {
        const name = result.documents[document]?.document ?? ''
        totals.set(name, (totals.get(name) ?? 0) + seconds)
      }
      isComplete = result.isComplete
      server.missing = result.missing
      if (isComplete) Object.assign(server, { file, rows })
      expect(readMissing(server.missing)).toEqual(lackingIn(server.rows, counted))
      if (result.missing && isComplete) cases['rows that the file lacks']++
      if (result.added.length === 0) cases['nothing new']++
      if (!isComplete) cases.parts++
      if (!isComplete && random(6) === 0) {
        cases['interrupted uploads']++
        return
      }
    }
    cases['complete uploads']++
    for (const [key, { duration }] of rows) completed.set(key, Math.max(duration, completed.get(key) ?? 0))
  }

  for (let step = 0; step < 14; step++) {
    const device = pickFrom(random, devices)
    const action = random(10)
    if (action < 5) {
      for (let n = 0; n <= random(4); n++) {
        const row = drawRow(random)
        keepLonger(device, toKey(row), row)
      }
    } else if (action === 5) {
      for (const [key, row] of device) if (random(2)) device.set(key, { ...row, duration: row.duration + random(20) })
    } else if (action === 6) {
      for (const key of [...device.keys()]) if (random(2)) device.delete(key)
    } else if (action === 7) {
      zone = pickFrom(random, ZONES)
      cases['another zone']++
    } else upload(device)
  }
  for (const [key, duration] of completed) expect(counted.get(key)).toBeGreaterThanOrEqual(duration)
  const sums = new Map<string, number>()
  for (const [key, duration] of counted) sums.set(documentOf(key), (sums.get(documentOf(key)) ?? 0) + duration)
  expect(totals).toEqual(sums)
}
