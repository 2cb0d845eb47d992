import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { IMAGE_PRICE } from '../../../src/values/prices'
import { type Reader, signUp } from '../../support/api'
import { measure, select } from '../../support/database'
import { listImageKeys, loadImage, memberIdOf } from '../../support/images/images'
import { gif, png } from '../../support/images/pictures'
import { eventually } from '../../support/runtime/clock'

let reader: Reader
let memberId: number
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
})
afterEach(vi.restoreAllMocks)

const list = async (page = 1, size = 10) => (await reader.get(`/images?page=${page}&size=${size}`)).body
const pathOf = (url: string) => new URL(url).pathname
const failing = (method: 'put' | 'delete') => ({
  IMAGES: { put: () => ({ key: '' }), delete: () => {}, [method]: () => Promise.reject(new Error('bucket is down')) },
})

it('lists the caller’s images, newest first', async () => {
  expect(await list()).toEqual({ item: [], pageInfo: { page: 1, size: 10, totalElements: 0, totalPages: 0 } })
  const urls = [(await reader.upload(png())).body, (await reader.upload(gif())).body]
  const object = await env.IMAGES.head(pathOf(urls[0]).slice(1))
  const { item, pageInfo } = await list()
  expect(pageInfo).toMatchObject({ totalElements: 2, totalPages: 1 })
  expect(item.map(({ url }: { url: string }) => url)).toEqual(urls.reverse())
  const name = pathOf(urls[1]).split('/').at(-1)
  expect(item[1]).toMatchObject({ memberId, name, type: 'image/png', bytes: object?.size })
  expect((await list(2, 1)).item).toEqual([item[1]])
  const link = (page: number, relation: string) => `</images?page=${page}&size=1>; rel="${relation}"`
  const { headers } = await reader.get('/images?page=1&size=1')
  expect(headers.get('Link')).toBe([link(1, 'first'), link(2, 'next'), link(2, 'last')].join(', '))
})

it('deletes an image', async () => {
  const url = (await reader.upload(png())).body
  expect((await loadImage(url)).status).toBe(200)
  expect((await reader.delete(pathOf(url))).status).toBe(204)
  expect((await list()).item).toEqual([])
  await eventually(async () => expect((await loadImage(url)).status).toBe(404))
  expect(await listImageKeys(memberId)).toEqual([])
  expect((await reader.delete(pathOf(url))).status).toBe(404)
})

it('keeps images within the quota, and frees what is deleted', async () => {
  const upload = (limit: number) => reader.upload(png(), { changed: { MAX_MEMBER_IMAGE_BYTES: String(limit) } })
  const url = (await upload(1e6)).body
  const [{ bytes }] = (await list()).item
  const price = bytes + IMAGE_PRICE
  const message = `Limit reached: ${(2 * price - 1).toLocaleString('en')} bytes of images per member`
  expect(await upload(2 * price - 1)).toMatchObject({ status: 409, body: { status: 409, message } })
  expect(await listImageKeys(memberId)).toHaveLength(1)
  await reader.delete(pathOf(url))
  expect((await upload(price)).status).toBe(201)
})

it('stores no row when the bucket fails', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const answer = await reader.upload(png(), { changed: failing('put') as unknown as typeof env })
  expect(answer.status).toBe(503)
  expect((await list()).item).toEqual([])
  expect(await select('select imageBytes from members where memberId = ?', memberId)).toEqual([{ imageBytes: 0 }])
})

it('keeps the image when the bucket fails to delete it', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const url = (await reader.upload(png())).body
  const before = await list()
  const changed = failing('delete') as unknown as typeof env
  expect((await reader.send('DELETE', pathOf(url), { changed })).status).toBe(503)
  expect(await list()).toEqual(before)
  expect((await reader.delete(pathOf(url))).status).toBe(204)
})

it('keeps an image that the bucket fails to delete, even if another image has taken its identifier', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const other = await signUp()
  const url = (await reader.upload(png())).body
  let uploaded = 0
  const fail = async () => {
    if (uploaded++ === 0) await other.upload(png())
    throw new Error('bucket is down')
  }
  const changed = { IMAGES: { delete: fail } } as unknown as typeof env
  expect((await reader.send('DELETE', pathOf(url), { changed })).status).toBe(503)
  expect((await list()).item).toMatchObject([{ url }])
})

it('deletes an image while its object is still being stored', async () => {
  const stored = Promise.withResolvers<void>()
  const wait = scheduler.wait.bind(scheduler)
  vi.spyOn(scheduler, 'wait').mockImplementation((ms) => (ms === 15_000 ? stored.promise : wait(ms)))
  const put: R2Bucket['put'] = async (...args: Parameters<R2Bucket['put']>) => {
    const [{ url }] = (await list()).item
    expect((await reader.delete(pathOf(url))).status).toBe(204)
    return env.IMAGES.put(...args) as never
  }
  expect((await reader.upload(png(), { changed: { IMAGES: { put } as unknown as R2Bucket } })).status).toBe(201)
  expect(await listImageKeys(memberId)).toHaveLength(1)
  stored.resolve()
  await eventually(async () => expect(await listImageKeys(memberId)).toEqual([]))
})

it('takes one database call each, whatever the number of images', async () => {
  const url = (await reader.upload(png())).body
  const listOne = () => measure(() => reader.get('/images?page=1&size=1'))
  const before = await listOne()
  await select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
    insert into images (memberId, name, type, bytes, createdAt)
    select ?, 'image-' || i, 'image/png', 10, '2026-01-01T00:00:00' from n`,
    memberId,
  )
  expect(await listOne()).toEqual({ ...before, calls: 1 })
  expect((await measure(() => reader.upload(png()))).calls).toBe(1)
  expect((await measure(() => reader.delete(pathOf(url)))).calls).toBe(1)
})
