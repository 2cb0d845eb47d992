import { beforeAll, expect, it } from 'vitest'
import { signUp } from '../../support/api'
import { loadImage } from '../../support/images/images'
import { jpeg, png } from '../../support/images/pictures'
import { eventually } from '../../support/runtime/clock'

let url: string
let etag: string
let bytes: Uint8Array
beforeAll(async () => {
  url = (await (await signUp()).upload(jpeg())).body
  const image = await loadImage(url)
  etag = image.headers.get('ETag') ?? ''
  bytes = image.body
})

it.each<[status: number, headers: Record<string, string>, method?: string]>([
  [304, { 'If-None-Match': 'ETAG' }],
  [304, { 'If-None-Match': 'W/ETAG' }],
  [304, { 'If-None-Match': '"x", ETAG' }],
  [304, { 'If-None-Match': '*' }],
  [200, { 'If-None-Match': '"other"' }],
  [200, { 'If-None-Match': 'no etag at all' }],
  [304, { 'If-None-Match': 'ETAG' }, 'HEAD'],
  [412, { 'If-Match': '"other"' }],
  [200, { 'If-Match': 'ETAG' }],
  [412, { 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
  [200, { 'If-Modified-Since': 'no date at all' }],
  [304, { 'If-Modified-Since': 'Fri, 31 Dec 2100 23:59:59 GMT' }],
])('answers %s for %o', async (status, headers, method) => {
  const values = Object.entries(headers).map(([name, value]) => [name, value.replace('ETAG', etag)])
  const answer = await loadImage(url, Object.fromEntries(values), method)
  expect(answer.status).toBe(status)
  if (status === 304) expect([answer.body, answer.headers.get('ETag')]).toEqual([null, etag])
  if (status === 412) expect(answer.body).toMatchObject({ status: 412 })
})

it.each([
  ['bytes=0-9', 0, 10],
  ['bytes=5-', 5, undefined],
  ['bytes=-7', -7, undefined],
  ['bytes=10-999999', 10, undefined],
])('sends the range %s', async (range, first, end) => {
  const answer = await loadImage(url, { Range: range })
  const part = bytes.slice(first, end)
  expect(answer.status).toBe(206)
  expect(answer.body).toEqual(part)
  const start = first < 0 ? bytes.length + first : first
  expect(answer.headers.get('Content-Range')).toBe(`bytes ${start}-${start + part.length - 1}/${bytes.length}`)
  expect(answer.headers.get('Content-Length')).toBe(String(part.length))
})

it('refuses a range outside the image and ignores a malformed one', async () => {
  const outside = await loadImage(url, { Range: 'bytes=999999-' })
  expect(outside).toMatchObject({ status: 416, body: { status: 416, fieldErrors: null } })
  expect(outside.headers.get('Cache-Control')).toBe('no-store')
  expect((await loadImage(url, { Range: 'bytes=0-3', 'If-Range': '"other"' })).body).toEqual(bytes)
  expect((await loadImage(url, { Range: 'bytes=0-3', 'If-Range': etag })).status).toBe(206)
  expect((await loadImage(url, { Range: 'bytes=-0' })).status).toBe(416)
  expect(outside.headers.get('Content-Range')).toBe(`bytes */${bytes.length}`)
  for (const odd of ['pages=1-2', 'bytes=x-y', 'bytes=9-1']) {
    expect((await loadImage(url, { Range: odd })).body, odd).toEqual(bytes)
  }
})

it('answers HEAD with headers only', async () => {
  const answer = await loadImage(url, {}, 'HEAD')
  expect(answer).toMatchObject({ status: 200, body: null })
  expect(answer.headers.get('ETag')).toBe(etag)
  expect(answer.headers.get('Content-Type')).toBe('image/jpeg')
})

it('allows pages of any origin to read images', async () => {
  const answer = await loadImage(url, { Origin: 'https://app.example' })
  expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('https://app.example')
})

it.each([
  '/images/1/AAAAAAAAAAAAAAAAAAAAAA.png',
  '/images/0/AAAAAAAAAAAAAAAAAAAAAA.png',
  '/images/1/..%2F..%2Fsecret.png',
  '/images/1/x.svg',
  '/images/1/',
  '/images/1',
  '/images/a/b/c',
])('answers 404 for %s', async (absent) => {
  expect(await loadImage(absent)).toMatchObject({ status: 404, body: { status: 404 } })
})

it('answers 404 after the member withdrew', async () => {
  const leaver = await signUp()
  const { pathname } = new URL((await leaver.upload(png())).body)
  expect((await loadImage(pathname)).status).toBe(200)
  expect((await leaver.delete('/members/me')).status).toBe(204)
  // A data centre may have cached the image under its own URL, but not with this query.
  const status = async () => (await loadImage(`${pathname}?withdrawn`)).status
  await eventually(async () => expect(await status()).toBe(404))
})
