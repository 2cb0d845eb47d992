// @module-tag slow
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase, select } from '../../support/database'
import { KINDS, withBucket, withDatabase } from '../../support/devices/failing-calls'
import { addRawDevice } from '../../support/devices/raw-device'
import { statisticsFile } from '../../support/devices/statistics-file'
import { memberIdOf } from '../../support/images/images'
import { eventually } from '../../support/runtime/clock'

let reader: Reader
let memberId: number
let device: Awaited<ReturnType<typeof addRawDevice>>
let logged: string[]
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
  device = await addRawDevice(reader)
  logged = []
  vi.spyOn(console, 'error').mockImplementation((line) => void logged.push(String(line)))
})
afterEach(() => {
  vi.restoreAllMocks()
})

const rows = (...days: number[]) => days.map((day) => ({ start: `2026-03-0${day}T10:00:00Z`, seconds: 90 }))
const put = (days: number[], changed?: object) =>
  device.send(
    'PUT',
    '/dav/statistics.sqlite3',
    { body: statisticsFile({ title: 'Demian', rows: rows(...days) }) },
    changed,
  )

const objects = async () => (await env.IMAGES.list({ prefix: `statistics/${memberId}/` })).objects.map(({ key }) => key)

describe.each(KINDS)('counts each row once, and keeps the objects of its row, if a call %s', (kind) => {
  it.each([
    ...[1, 2, 3, 4].map((nth) => ['the database', nth, withDatabase] as const),
    ...[1, 2, 3, 4, 5, 6].map((nth) => ['the bucket', nth, withBucket] as const),
  ])('to %s: number %i', async (_, nth, withFault) => {
    expect((await put([1, 2])).status).toBe(204)
    // It lacks a row of the first one, so it stores two objects.
    const { status, body } = await put([2, 3], withFault(nth, kind))
    expect([204, 503]).toContain(status)
    if (status === 503) expect(body).toBe('Service unavailable: try again later\n')
    expect(await findMismatches(memberDatabase())).toEqual([])
    expect((await put([2, 3])).status).toBe(204)
    expect((await put([2, 3, 4])).status).toBe(204)
    const counted = await select(
      'select sum(seconds) as n, count(*) as days from sittings where memberId = ?',
      memberId,
    )
    expect(counted).toEqual([{ n: 360, days: 4 }])
    expect(await findMismatches(memberDatabase())).toEqual([])
    const [row] = await select('select file, missing from statisticsFiles where memberId = ?', memberId)
    await eventually(async () =>
      expect(await objects()).toEqual(
        expect.arrayContaining([row?.file, row?.missing].map((name) => `statistics/${memberId}/${name}`)),
      ),
    )
    // What a failed deletion leaves is named in the log.
    for (const key of await objects()) {
      const name = key.split('/').at(-1) ?? ''
      expect([row?.file, row?.missing].includes(name) || logged.join().includes(name)).toBe(true)
    }
  })
})

it('counts nothing if the Worker that reads files fails', async () => {
  const READER = { readStatistics: () => Promise.reject(new Error('Worker exceeded memory limit.')) }
  expect(await put([1], { READER })).toMatchObject({ status: 503, body: 'Service unavailable: try again later\n' })
  expect(await objects()).toEqual([])
  expect((await put([1])).status).toBe(204)
})
