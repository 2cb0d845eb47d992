// @module-tag slow
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sweep } from '../../../src/sweep'
import { type Reader, signUp } from '../../support/api'
import { select } from '../../support/database'
import { KINDS, withBucket, withDatabase } from '../../support/devices/failing-calls'
import { addRawDevice } from '../../support/devices/raw-device'
import { memberIdOf } from '../../support/images/images'
import { eventually } from '../../support/runtime/clock'
import { readingWith } from '../../support/transfer/imports'

let reader: Reader
let memberId: number
let device: Awaited<ReturnType<typeof addRawDevice>>
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
  device = await addRawDevice(reader)
  vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => {
  vi.restoreAllMocks()
})

const EXPORT = JSON.stringify({
  title: 'The Salt Archive',
  author: 'Mina Oh',
  entries: [{ page: 12, time: 1_760_000_000, text: 'Low tide.', note: 'Again' }],
})
const put = (changed?: object) => device.send('PUT', '/dav/export.json', { body: EXPORT }, changed)

/** Sends the file again, as a device may, and lets the next run begin at once. */
const recover = async () => {
  expect((await put({})).status).toBe(201)
  await select('update imports set leaseEndsAt = 0 where memberId = ?', memberId)
  await eventually(async () => {
    const { body } = await reader.get('/imports?from=devices')
    const running = body.filter(({ status }: { status: string }) => status === 'RUNNING')
    for (const { importId } of running) await reader.send('GET', `/imports/${importId}`, { changed: {} })
    if (running.length > 0) throw new Error('One still runs')
  })
  // Deletes files that could not be deleted.
  await sweep(env)
}

const expectOneBook = async () => {
  const { body } = await reader.get('/books?sort=created&size=10')
  expect(body.item).toMatchObject([{ title: 'The Salt Archive', memoCount: 1 }])
  expect(await select('select file from imports where memberId = ? and file is not null', memberId)).toEqual([])
  expect((await env.IMAGES.list({ prefix: `imports/${memberId}/` })).objects).toEqual([])
}

describe.each(KINDS)('imports a file once if a call %s', (kind) => {
  it.each([
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((nth) => ['the database', nth, withDatabase] as const),
    ...[1, 2].map((nth) => ['the bucket', nth, withBucket] as const),
  ])('to %s: number %i', async (_, nth, withFault) => {
    const { status, body } = await put(withFault(nth, kind))
    expect([201, 503]).toContain(status)
    if (status === 503) expect(body).toBe('Service unavailable: try again later\n')
    await recover()
    await expectOneBook()
  })
})

it('imports a file once if the Worker that reads files fails', async () => {
  const read = () => Promise.reject(new Error('Worker exceeded memory limit.'))
  expect(await put(readingWith(read))).toMatchObject({ status: 503, body: 'Service unavailable: try again later\n' })
  expect(await select('select * from imports where memberId = ?', memberId)).toEqual([])
  await recover()
  await expectOneBook()
})
