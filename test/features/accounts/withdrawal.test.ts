import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { releaseAddresses } from '../../../src/accounts/addresses/directory'
import { purgeMember } from '../../../src/accounts/members/purge'
import { withdraw } from '../../../src/accounts/members/store'
import { connect } from '../../../src/db/client'
import { sweep } from '../../../src/sweep'
import { join, login, PASSWORD, type Reader, signUp } from '../../support/api'
import { fillShelf, fillTags, measure, memberDatabase, memberSlot, select } from '../../support/database'
import { addDevice } from '../../support/devices/device'
import { addRawDevice } from '../../support/devices/raw-device'
import { statisticsFile } from '../../support/devices/statistics-file'
import { listImageKeys, memberIdOf } from '../../support/images/images'
import { png } from '../../support/images/pictures'
import { eventually } from '../../support/runtime/clock'
import { DEVICE_TABLES, LIBRARY_TABLES } from '../../support/stores'
import { claimsOf } from '../../support/tokens'

/** Of the tables of `countRows`. */
const STORED = [1, 2501, 250, 1, 1, 1, 2, 2, 1, 1, 1, 1, 2, 1, 1, 1]
const NOTHING = STORED.map(() => 0)

let reader: Reader
let memberId: number
let bookId: number
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
  await fillShelf(memberId, 2500)
  bookId = (await reader.createBook({ author: 'Hermann Hesse' })).bookId
  for (const finishedAt of ['2024', '2023']) await reader.post(`/books/${bookId}/readings`, { finishedAt })
  await reader.post(`/books/${bookId}/progress`, { page: 12 })
  await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['Novel', '소설'] } })
  const { bookId: deleted } = await reader.createBook()
  await reader.createMemo(deleted)
  await reader.delete(`/books/${deleted}`)
  await reader.upload(png())
  await (await addDevice(reader)).push({ percentage: 0.5 })
  const body = statisticsFile({ rows: [{ start: '2026-03-01T10:00:00Z', seconds: 60 }] })
  await (await addRawDevice(reader)).send('PUT', '/dav/statistics.sqlite3', { body })
  await reader.send('PUT', '/goals/2026', { body: { metric: 'BOOKS', target: 12 } })
})
afterEach(vi.restoreAllMocks)

/** The withdrawal without the purge that follows it. */
const withdrawOnly = ({ token }: Reader) => {
  const { sub, sid } = claimsOf(token)
  return withdraw(connect(memberDatabase(), { slot: memberSlot() }), {
    kind: 'session',
    memberId: Number(sub),
    sessionId: String(sid),
    slot: 0,
    required: [],
  })
}

const brokenPut = { put: () => Promise.reject(new Error('bucket is down')) }
const emptyBucket = {
  put: async (key: string) => ({ key }),
  list: async () => ({ objects: [], truncated: false }),
} as unknown as R2Bucket
const purge = (maxStatements?: number) =>
  purgeMember(
    connect(memberDatabase(), { slot: memberSlot() }),
    emptyBucket,
    { memberId, createdAt: 0 },
    { maxStatements },
  )

/** The members whose withdrawals are marked. */
const listMarks = async () => {
  const { objects } = await env.IMAGES.list({ prefix: 'marks/' })
  return objects.map(({ key }) => key.split('/')[2])
}

const countRows = async () => {
  const tables = ['members', ...LIBRARY_TABLES, ...DEVICE_TABLES]
  const counts = tables.map((table) => select(`select count(*) as n from ${table} where memberId = ?`, memberId))
  return (await Promise.all(counts)).map(([row]) => row?.n)
}

it('takes one database call, whose cost does not depend on the size of the library', async () => {
  const newcomer = await signUp()
  for (let n = 0; n < 2; n++) await addDevice(newcomer)
  const inSmall = await measure(() => withdrawOnly(newcomer))
  const inLarge = await measure(() => withdrawOnly(reader))
  expect(inLarge).toEqual(inSmall)
  expect(inLarge.calls).toBe(1)
  expect(inLarge.written).toBeLessThan(10)
})

it('takes effect before anything is purged', async () => {
  await withdrawOnly(reader)
  expect(await countRows()).toEqual(STORED)
  expect((await reader.get('/members/me')).status).toBe(401)
  expect((await reader.get(`/books/${bookId}?memoAuthority=ALL`)).status).toBe(401)
  expect((await login(reader.email)).status).toBe(401)
  const [row] = await select('select * from members where memberId = ?', memberId)
  expect(row).toMatchObject({ email: `withdrawn-${memberId}`, name: '', passwordHash: '' })
  expect(await findMismatches(memberDatabase())).toEqual([])

  if (memberSlot() > 0) await releaseAddresses({ directory: connect(env.DB) }, [memberId])
  expect((await join({ email: reader.email })).status).toBe(201)
  const session = (await login(reader.email, PASSWORD)).headers.get('Authorization') ?? ''
  const books = await reader.send('GET', '/books/library?page=1&size=10&bookStatus=YET', {
    headers: { Authorization: session },
  })
  expect(books.body.item).toEqual([])
})

it('deletes everything in batches that can be interrupted, and the member last', async () => {
  const neighbour = await signUp()
  const kept = await neighbour.createMemo((await neighbour.createBook()).bookId)
  await withdrawOnly(reader)
  let runs = 1
  while (!(await purge(3)).isDone) {
    runs += 1
    expect((await countRows())[0]).toBe(1)
    expect(await findMismatches(memberDatabase())).toEqual([])
  }
  expect(runs).toBeGreaterThan(1)
  expect(await countRows()).toEqual(NOTHING)
  expect((await neighbour.get('/memos/random')).body[0].memoId).toBe(kept.memoId)
  expect(await findMismatches(memberDatabase())).toEqual([])
})

it('deletes tags without counting their books', async () => {
  await fillTags(memberId, bookId, 100, 10)
  await select('insert or ignore into bookTags select memberId, 1, bookId from books where memberId = ?', memberId)
  const [rows] = await select(
    `select (select count(*) from bookTags where memberId = ?1) + 100 + (select count(*) from books where memberId = ?1)
      + (select count(*) from memos where memberId = ?1) as n`,
    memberId,
  )
  await withdrawOnly(reader)
  expect((await measure(() => purge())).written).toBeLessThan(Number(rows?.n) + 50)
})

it('is completed by the sweep', async () => {
  await withdrawOnly(reader)
  await sweep(env)
  expect(await countRows()).toEqual(NOTHING)
  expect(await select('select memberId from purgeJobs where memberId = ?', memberId)).toHaveLength(1)
})

it('never purges a member who has not withdrawn', async () => {
  const [before] = await select('select * from members where memberId = ?', memberId)
  await select('insert into purgeJobs values (?, 0)', memberId)
  await sweep(env)
  expect(await select('select * from members where memberId = ?', memberId)).toEqual([before])
  expect(await listImageKeys(memberId)).toHaveLength(1)
  expect(await listMarks()).not.toContain(String(memberId))
})

it('purges members with rows left before it repeats finished jobs', { tags: ['slow'] }, async () => {
  await withdrawOnly(reader)
  await select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 120)
    insert into purgeJobs select 1000000 + i, i from n`,
  )
  await sweep(env)
  expect(await select('select memberId from members where memberId = ?', memberId)).toEqual([])
})

it('is marked outside the database, at the latest before the purge job ends', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const IMAGES = { ...brokenPut, list: env.IMAGES.list.bind(env.IMAGES), delete: env.IMAGES.delete.bind(env.IMAGES) }
  const changed = { IMAGES: IMAGES as unknown as R2Bucket }
  expect((await reader.send('DELETE', '/members/me', { changed })).status).toBe(204)
  await eventually(async () => expect(await countRows()).toEqual(NOTHING))
  const jobs = () => select('select memberId from purgeJobs where memberId = ?', memberId)
  await select('update purgeJobs set createdAt = createdAt - 3600001 where memberId = ?', memberId)
  await sweep({ ...env, ...changed })
  expect([await jobs(), await listMarks()]).toEqual([[{ memberId }], expect.not.arrayContaining([String(memberId)])])

  await sweep(env)
  expect([await jobs(), await listMarks()]).toEqual([[], expect.arrayContaining([String(memberId)])])
})

it('is marked right after the response', async () => {
  await reader.delete('/members/me')
  await eventually(async () => expect(await listMarks()).toContain(String(memberId)))
})

it('is marked for 400 days', async () => {
  const day = (age: number) => new Date(Date.now() - age * 86_400_000).toISOString().slice(0, 10)
  const [old, kept] = [`marks/${day(401)}/1/withdrawn`, `marks/${day(399)}/2/withdrawn`]
  for (const key of [old, kept]) await env.IMAGES.put(key, '')
  await sweep(env)
  const keys = (await env.IMAGES.list({ prefix: 'marks/' })).objects.map(({ key }) => key)
  expect([keys.includes(old), keys.includes(kept)]).toEqual([false, true])
})
