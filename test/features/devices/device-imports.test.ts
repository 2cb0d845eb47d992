import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEVICE_FILES } from '../../../src/db/limits/attempts'
import { sweep } from '../../../src/sweep'
import type { Import } from '../../../src/transfer/imports/responses'
import { MAX_KEPT_OF_DEVICES, MAX_LISTED_OF_DEVICES } from '../../../src/transfer/imports/schema'
import { MAX_REPORT_BYTES } from '../../../src/values/prices'
import { type Reader, signUp } from '../../support/api'
import { insertImport, measure, select } from '../../support/database'
import { addRawDevice } from '../../support/devices/raw-device'
import { memberIdOf } from '../../support/images/images'
import { eventually } from '../../support/runtime/clock'
import { finishImport, importFile, startImport } from '../../support/transfer/imports'

let reader: Reader
let memberId: number
let device: Awaited<ReturnType<typeof addRawDevice>>
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
  device = await addRawDevice(reader)
})
afterEach(() => {
  vi.restoreAllMocks()
})

const fileOf = (title: string) => `Title,Author\n${title},Mina Oh\n`
const put = (title: string, changed?: object) =>
  device.send('PUT', `/dav/${title}.csv`, { body: fileOf(title) }, changed)
const list = async (): Promise<Import[]> => (await reader.get('/imports?from=devices')).body
const statuses = async () => (await list()).map(({ fileName, status }) => `${fileName} ${status}`)
const newest = async () => (await list())[0] as Import
const end = (importId: number, status = 'DONE') =>
  select('update imports set status = ? where memberId = ? and importId = ?', status, memberId, importId)
const ended = () =>
  eventually(async () => {
    const all = await statuses()
    if (all.some((each) => each.endsWith('RUNNING'))) throw new Error('One still runs')
    return all
  })

describe('while another import runs', () => {
  it('waits for it, and imports run in the order in which they arrived', async () => {
    const running = await insertImport(memberId, 'RUNNING', 1)
    for (const title of ['A', 'B', 'C']) expect((await put(title, {})).status).toBe(201)
    expect(await statuses()).toEqual(['C.csv RUNNING', 'B.csv RUNNING', 'A.csv RUNNING'])
    // None of them begins, whichever is asked for.
    const [last] = await list()
    await reader.send('GET', `/imports/${last?.importId}`, { changed: {} })
    expect(await select('select bookId from books where memberId = ?', memberId)).toEqual([])
    await end(running)
    await reader.get(`/imports/${last?.importId}`)
    expect(await ended()).toEqual(['C.csv DONE', 'B.csv DONE', 'A.csv DONE'])
    const books = await select('select title from books where memberId = ? order by bookId', memberId)
    expect(books.map(({ title }) => title)).toEqual(['A', 'B', 'C'])
  })

  it('begins when that one ends', async () => {
    await put('A')
    await put('B')
    await put('C')
    expect(await ended()).toEqual(['C.csv DONE', 'B.csv DONE', 'A.csv DONE'])
    expect(await select('select file from imports where memberId = ? and file is not null', memberId)).toEqual([])
  })

  it('makes an import of the member wait, but not a second one', async () => {
    const running = await insertImport(memberId, 'RUNNING', 1)
    await select(`update imports set tokenId = 'x' where memberId = ?`, memberId)
    const own = await startImport(reader, fileOf('Own'), '', {})
    expect(own).toMatchObject({ status: 202, body: { status: 'RUNNING', tokenId: null } })
    expect(await startImport(reader, fileOf('Other'))).toMatchObject({ status: 409 })
    await end(running)
    expect(await finishImport(reader, own.body.importId)).toMatchObject({ status: 'DONE', counts: { created: 1 } })
  })

  it('is continued by the sweep, one after another', async () => {
    const running = await insertImport(memberId, 'RUNNING', 1)
    await put('A', {})
    await put('B', {})
    await end(running)
    await sweep(env)
    expect(await statuses()).toEqual(['B.csv DONE', 'A.csv DONE'])
  })

  it('can be cancelled before it begins', async () => {
    const running = await insertImport(memberId, 'RUNNING', 1)
    await put('A', {})
    await put('B', {})
    const [, first] = await list()
    expect((await reader.delete(`/imports/${first?.importId}`)).body).toMatchObject({ removed: 0, kept: [] })
    await end(running)
    await reader.get(`/imports/${(await newest()).importId}`)
    expect(await ended()).toEqual(['B.csv DONE'])
  })

  it('fails after a day, and lets the others begin', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const running = await insertImport(memberId, 'RUNNING', 1)
    await put('A', {})
    await put('B', {})
    const DAY_MS = 86_400_000
    await select('update imports set importId = importId - ? where memberId = ?', 2 * DAY_MS, memberId)
    await end(running - 2 * DAY_MS)
    await sweep(env)
    expect(await statuses()).toEqual(['B.csv FAILED', 'A.csv FAILED'])
    expect((await newest()).reason).toBe('The import took longer than a day.')
    await put('B')
    expect((await ended())[0]).toBe('B.csv DONE')
  })
})

describe('the same file again', () => {
  it('costs one lookup, and counts for nothing', async () => {
    await put('A')
    await ended()
    const again = await measure(() => put('A', {}))
    expect(again).toMatchObject({ calls: 1, written: 0 })
    expect(again.read).toBeLessThan(30)
    expect(await statuses()).toEqual(['A.csv DONE'])
  })

  it('leaves no file if the import ends before it is stored again', async () => {
    await insertImport(memberId, 'RUNNING', 1)
    await put('A', {})
    const { importId } = await newest()
    const storeLate = async (key: string, file: Uint8Array) => {
      await env.IMAGES.delete(key)
      await end(importId)
      return env.IMAGES.put(key, file)
    }
    const IMAGES = { put: storeLate, delete: (key: string) => env.IMAGES.delete(key) }
    expect((await put('A', { IMAGES })).status).toBe(201)
    expect((await env.IMAGES.list({ prefix: `imports/${memberId}/` })).objects).toEqual([])
  })

  it('is another one if another device sends it', async () => {
    await put('A')
    await ended()
    const other = await addRawDevice(reader)
    await other.send('PUT', '/dav/other.csv', { body: fileOf('A') })
    expect(await ended()).toEqual(['other.csv DONE', 'A.csv DONE'])
    expect((await newest()).counts).toMatchObject({ created: 0, unchanged: 1 })
  })
})

it('costs what the same import of the member costs', async () => {
  const file = fileOf('The Salt Archive')
  const other = await signUp()
  // The first request of each credential also confirms it.
  await put('First')
  await importFile(other, fileOf('First'))
  await ended()
  const sent = await measure(() => device.send('PUT', '/dav/a.csv', { body: file }, {}))
  const own = await measure(() => other.send('POST', '/imports', { raw: file, changed: {} }))
  expect(sent.calls).toBe(own.calls)
  expect(sent.written).toBe(own.written)
  expect(sent.read - own.read).toBeLessThan(15)
})

it('is limited to a number of files a day of each device, also of those that are refused', async () => {
  const [limit] = DEVICE_FILES.webdav
  Object.assign(limit as object, { max: 3 })
  try {
    for (const title of ['A', 'B']) expect((await put(title, {})).status).toBe(201)
    expect((await device.send('PUT', '/dav/a.txt', { body: '?' }, {})).status).toBe(422)
    const refused = await put('C', {})
    expect(refused).toMatchObject({ status: 429, body: expect.stringMatching(/^Too many requests/) })
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(86_000)
    expect((await put('A', {})).status).toBe(201)
    const other = await addRawDevice(reader)
    expect((await other.send('PUT', '/dav/C.csv', { body: fileOf('C') }, {})).status).toBe(201)
    expect(await startImport(reader, fileOf('D'))).toMatchObject({ status: 202 })
  } finally {
    Object.assign(limit as object, { max: 200 })
  }
})

describe('reports', () => {
  it('of devices are the last fifty, of which more are kept, and push out none of the member', async () => {
    const { importId } = await importFile(reader, fileOf('Own'))
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?3)
      insert into imports (memberId, importId, status, isDryRun, merge, format, encoding, options, total, tokenId, fileHash)
      select ?1, ?2 + i, 'DONE', 0, 'fill', 'csv', 'utf-8', '{}', 0, ?4, i from n`,
      ...[memberId, importId, MAX_KEPT_OF_DEVICES, device.tokenId],
    )
    await put('A')
    await ended()
    const listed = await list()
    expect(listed).toHaveLength(MAX_LISTED_OF_DEVICES)
    expect(listed.at(-1)?.importId).toBe(importId + MAX_KEPT_OF_DEVICES - MAX_LISTED_OF_DEVICES + 2)
    expect((await reader.get('/imports')).body).toMatchObject([{ importId, tokenId: null, fileName: null }])
    // That of a device goes with its report.
    expect(await select('select count(*) as count from imports where memberId = ?', memberId)).toEqual([
      { count: MAX_KEPT_OF_DEVICES + 1 },
    ])
  })

  it('of devices make room for those of the member, also for older ones', async () => {
    const { importId } = await importFile(reader, fileOf('Own'))
    await put('A')
    await ended()
    await select('update imports set reportBytes = ? where memberId = ?', MAX_REPORT_BYTES * 0.75, memberId)
    await put('B')
    expect(await ended()).toEqual(['B.csv DONE'])
    expect((await reader.get('/imports')).body).toMatchObject([{ importId }])
  })

  it('are listed of the member or of devices', async () => {
    expect((await reader.get('/imports?from=member')).body).toEqual([])
    expect(await reader.get('/imports?from=everyone')).toMatchObject({
      status: 400,
      body: { violationErrors: [{ propertyPath: 'from', reason: 'must be one of member, devices' }] },
    })
  })

  it('of imports that wait are kept', async () => {
    await insertImport(memberId, 'RUNNING', 1)
    await put('A', {})
    const [{ importId } = { importId: 0 }] = await list()
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?3)
      insert into imports (memberId, importId, status, isDryRun, merge, format, encoding, options, total, tokenId, fileHash)
      select ?1, ?2 + i, 'DONE', 0, 'fill', 'csv', 'utf-8', '{}', 0, ?4, i from n`,
      ...[memberId, importId, MAX_KEPT_OF_DEVICES, device.tokenId],
    )
    await put('B', {})
    expect((await reader.get(`/imports/${importId}`)).body).toMatchObject({ fileName: 'A.csv', status: 'RUNNING' })
  })
})
