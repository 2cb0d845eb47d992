import { beforeAll, expect, it, vi } from 'vitest'
import { type Reader, send, sharedReader, signUp } from '../support/api'
import { join, toText } from '../support/bytes'
import { fieldError } from '../support/invalid-values'
import { EVERYTHING, jpeg, png } from '../support/pictures'

const MiB = 1_048_576

let reader: Reader
let path = ''
beforeAll(async () => {
  reader = await sharedReader()
})

const load = (headers: Record<string, string> = {}, method = 'GET', address = path) =>
  send(method, address, { headers })

it('stores an image by its content, and answers its URL as JSON and as Location', async () => {
  const answer = await reader.upload(png(EVERYTHING), { name: 'evil.html', type: 'text/html' })
  expect(answer.status).toBe(201)
  expect(answer.body).toMatch(/^https?:\/\/.+\/images\/\d+\/[\w-]{22,}\.png$/)
  expect(answer.headers.get('Location')).toBe(answer.body)
  path = new URL(answer.body).pathname
})

it('answers the URL as bare text if Accept prefers that', async () => {
  const answer = await reader.upload(jpeg(), { headers: { Accept: 'text/plain' } })
  expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/)
  expect(answer.body).toMatch(/^https?:.*\.jpg$/)
})

it('serves an image without a token, for a year, as nothing but an image', async () => {
  const image = await load()
  expect(image.status).toBe(200)
  expect(Object.fromEntries(image.headers)).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
  })
})

it('removes metadata from an image', async () => {
  expect(toText(png(EVERYTHING))).toContain('GPSMARK')
  expect(toText((await load()).body)).not.toContain('GPSMARK')
})

it('answers conditional requests, ranges and HEAD', async () => {
  const whole = await load()
  const { length } = whole.body
  expect((await load({ 'If-None-Match': whole.headers.get('ETag') ?? '' })).status).toBe(304)
  const part = await load({ Range: 'bytes=1-3' })
  expect([part.status, toText(part.body)]).toEqual([206, 'PNG'])
  expect(part.headers.get('Content-Range')).toBe(`bytes 1-3/${length}`)
  expect((await load({ Range: 'bytes=999999-' })).status).toBe(416)
  const head = await load({}, 'HEAD')
  expect([head.status, head.headers.get('Content-Length')]).toEqual([200, String(length)])
})

it.each([
  ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  ['an HTML page', '<!doctype html><script>alert(1)</script>'],
  ['a script that starts like a GIF', 'GIF89a/*<script>*/=1;alert(1)'],
  ['a PDF', '%PDF-1.7\n'],
  ['half a PNG', png().slice(0, 40)],
  ['an empty file', ''],
])('rejects %s', async (_, file) => {
  expect(await reader.upload(file)).toMatchObject({ status: 415, body: { status: 415, fieldErrors: null } })
})

it('needs a part named file, of up to 10 MiB, in a multipart body', async () => {
  const raw = new FormData()
  raw.append('image', new Blob([png()]), 'page.png')
  expect(await reader.send('POST', '/memos/image-memo', { raw })).toMatchObject(fieldError('file', ''))
  expect((await reader.upload(join(png(), new Uint8Array(10 * MiB)))).status).toBe(413)
  expect((await reader.post('/memos/image-memo', {})).status).toBe(415)
  const headers = { 'Content-Type': 'multipart/form-data; boundary=x' }
  const empty = await reader.send('POST', '/memos/image-memo', { headers })
  expect(empty).toMatchObject({ status: 400, body: { message: 'Required request body is missing' } })
})

it('answers 404 for an unknown image', async () => {
  expect(await load({}, 'GET', `/images/1/${'A'.repeat(22)}.png`)).toMatchObject({ status: 404 })
})

it('deletes the images of a member who withdraws', async () => {
  const leaver = await signUp()
  const { pathname } = new URL((await leaver.upload(png())).body)
  expect((await load({}, 'GET', pathname)).status).toBe(200)
  expect((await leaver.delete('/members/me')).status).toBe(204)
  // An edge may have kept the image; it does not know this address.
  const status = async () => (await load({}, 'GET', `${pathname}?withdrawn`)).status
  await vi.waitFor(async () => expect(await status()).toBe(404), { timeout: 10_000, interval: 500 })
})
