// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { createAccessToken } from '../../../src/auth/access-token'
import type { ReaderBinding } from '../../../src/transfer/entries/reader-protocol'
import { type Answer, type Reader, readerWith, send, signUp } from '../../support/api'
import { join, toText } from '../../support/bytes'
import { memberSlot } from '../../support/database'
import { listImageKeys, loadImage, memberIdOf } from '../../support/images/images'
import { EVERYTHING, gif, jpeg, png, webp } from '../../support/images/pictures'
import { BAD_MARKS, hostileFiles } from '../../support/inputs/hostile'
import { unlimited } from '../../support/rate-limits'
import { remote } from '../../support/target'

const PNG = png()
const MiB = 1_048_576
let reader: Reader
beforeAll(async () => {
  reader = await signUp()
})
afterEach(vi.restoreAllMocks)
const silenceErrors = () => vi.spyOn(console, 'error').mockImplementation(() => {})
const storedKeys = async () => listImageKeys(await memberIdOf(reader))

it('returns the URL of an image that loads without a token', async () => {
  const answer = await reader.upload(PNG)
  expect(answer.status).toBe(201)
  expect(answer.body).toMatch(/^https?:\/\/[^/]+\/images\/[1-9]\d*\/[\w-]{22}\.png$/)
  expect(answer.headers.get('Location')).toBe(answer.body)
  const image = await loadImage(answer.body)
  expect(image.status).toBe(200)
  expect(Object.fromEntries(image.headers)).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'content-length': String(image.body.length),
    etag: expect.stringMatching(/^"[^"]+"$/),
  })
})

it('returns plain text if the client prefers it', async () => {
  const asText = await reader.upload(PNG, { headers: { Accept: 'text/plain' } })
  expect(asText.headers.get('Content-Type')).toContain('text/plain')
  expect(asText.body).toMatch(/^https?:/)
  const axios = await reader.upload(PNG, { headers: { Accept: 'application/json, text/plain, */*' } })
  expect(axios.headers.get('Content-Type')).toContain('application/json')
})

it('builds the URL from IMAGE_BASE_URL, never from a request header', async () => {
  const changed = { IMAGE_BASE_URL: 'https://images.example/' }
  const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' }
  expect((await reader.upload(PNG, { changed, headers })).body).toMatch(/^https:\/\/images\.example\/images\/\d+\//)
})

it('fails if PUBLIC_URL is missing, except on localhost', async () => {
  const error = silenceErrors()
  const before = await storedKeys()
  expect((await reader.upload(PNG, { changed: { PUBLIC_URL: undefined } })).status).toBe(500)
  expect(error.mock.calls.join()).toContain('PUBLIC_URL is missing')
  expect(await storedKeys()).toEqual(before)
})

it.each([
  ['png', png(EVERYTHING), 'image/png'],
  ['jpg', jpeg(EVERYTHING), 'image/jpeg'],
  ['gif', gif(EVERYTHING), 'image/gif'],
  ['webp', webp(EVERYTHING), 'image/webp'],
])('detects %s by its content and removes its location', async (extension, bytes, type) => {
  expect(toText(bytes)).toContain('GPSMARK')
  const answer = await reader.upload(bytes, { type: 'text/html', name: '../../evil.html' })
  expect(answer.body.endsWith(`.${extension}`)).toBe(true)
  const image = await loadImage(answer.body)
  expect(image.headers.get('Content-Type')).toBe(type)
  expect(toText(image.body)).not.toContain('GPSMARK')
})

const hostile = hostileFiles()

it.each(hostile.filter(({ status }) => status !== 201))('refuses $name', async ({ bytes, status }) => {
  const answer = await reader.upload(bytes, { changed: { MEMBER_LIMIT: unlimited } })
  expect(answer).toMatchObject({ status, body: { status, fieldErrors: null } })
})

it.each(hostile.filter(({ status }) => status === 201))('serves $name without anything harmful', async ({ bytes }) => {
  const answer = await reader.upload(bytes, { changed: { MEMBER_LIMIT: unlimited } })
  const image = await loadImage(answer.body)
  expect(image.headers.get('Content-Type')).toMatch(/^image\/(png|jpeg|gif|webp)$/)
  for (const mark of BAD_MARKS) expect(toText(image.body)).not.toContain(mark)
})

const NO_FILE = { status: 400, body: { status: 0, fieldErrors: [{ field: 'file' }] } }
const NO_BODY = { status: 400, body: { message: 'Required request body is missing' } }
const headers = { 'Content-Type': 'multipart/form-data; boundary=x' }
const form = (field: string, value: string | Blob) => {
  const raw = new FormData()
  raw.append(field, value)
  return { raw }
}
it.each([
  ['a file in another field', form('image', new Blob([PNG])), NO_FILE],
  ['a text for a file', form('file', 'text'), NO_FILE],
  ['an empty file', form('file', new Blob([])), { status: 415 }],
  ['a malformed form', { raw: 'nonsense', headers }, NO_FILE],
  ['an empty body', { raw: '', headers }, NO_BODY],
  ['JSON', { body: {} }, { status: 415 }],
])('refuses %s', async (_, request, expected) => {
  expect(await reader.send('POST', '/memos/image-memo', request)).toMatchObject(expected)
})

it('accepts files up to 10 MiB', async () => {
  const padded = (size: number) => join(PNG, new Uint8Array(size - PNG.length))
  expect((await reader.upload(padded(10 * MiB))).status).toBe(201)
  expect(await reader.upload(padded(10 * MiB + 1))).toMatchObject({
    status: 413,
    body: { message: expect.stringContaining('10 MiB') },
  })
})

it.skipIf(remote)('discards at most 40 MiB of an endless body', async () => {
  let sent = 0
  const endless = new ReadableStream({
    pull: (controller) => {
      sent += 65_536
      controller.enqueue(new Uint8Array(65_536))
    },
  })
  expect((await reader.send('POST', '/memos/image-memo', { raw: endless, headers })).status).toBe(413)
  expect(sent).toBeLessThan(52 * MiB)
})

it('stores nothing when the bucket fails', async () => {
  const error = silenceErrors()
  const IMAGES = { put: () => Promise.reject(new Error('internal error (10001)')) } as unknown as R2Bucket
  const before = await storedKeys()
  expect(await reader.upload(PNG, { changed: { IMAGES } })).toMatchObject({ status: 503, body: { status: 503 } })
  expect(await storedKeys()).toEqual(before)
  expect(error.mock.calls.join()).toContain('10001')
})

type Clean = ReaderBinding['cleanImage']
const cleaningWith = (cleanImage: unknown) => ({ READER: { cleanImage } as ReaderBinding })

it.each<[string, () => Promise<object>]>([
  ['fails', () => Promise.reject(new Error('Worker exceeded memory limit.'))],
  ['has another version', async () => ({ protocol: 0, type: 'image/png', bytes: PNG })],
])('stores nothing when the Worker that cleans images %s', async (_, clean) => {
  const error = silenceErrors()
  const before = await storedKeys()
  expect(await reader.upload(PNG, { changed: cleaningWith(clean) })).toMatchObject({
    status: 503,
    body: { status: 503 },
  })
  expect(await storedKeys()).toEqual(before)
  expect(error.mock.calls.join()).toContain('file reader: ')
})

it('cleans an image again if that fails', async () => {
  const clean = vi.fn<Clean>((bytes) => env.READER.cleanImage(bytes))
  clean.mockRejectedValueOnce(new Error('Worker exceeded memory limit.'))
  const image = await loadImage((await reader.upload(jpeg(EVERYTHING), { changed: cleaningWith(clean) })).body)
  expect(toText(image.body)).not.toContain('GPSMARK')
  expect(clean).toHaveBeenCalledTimes(2)
})

it('cleans no image for an access token that was made up', async () => {
  const clean = vi.fn<Clean>()
  const stranger = readerWith('', createAccessToken(memberSlot()))
  expect((await stranger.upload(PNG, { changed: cleaningWith(clean) })).status).toBe(401)
  expect(clean).not.toHaveBeenCalled()
})

it('checks the token before anything is stored', async () => {
  const gone = await signUp()
  const goneId = await memberIdOf(gone)
  await gone.delete('/members/me')
  expect((await gone.upload(PNG)).status).toBe(401)
  expect(await listImageKeys(goneId)).toEqual([])
  expect((await send('GET', '/memos/image-memo')).status).toBe(405)
})

it.skipIf(remote)('limits a member to thirty uploads a minute', async () => {
  const eager = await signUp()
  let processed = 0
  let refused: Answer | undefined
  // A new minute may start meanwhile and reset the count.
  while (processed < 65 && !refused) {
    const answer = await eager.upload('not a picture')
    if (answer.status === 415) processed++
    else refused = answer
  }
  expect(refused).toMatchObject({ status: 429, body: { status: 429 } })
  expect(refused?.headers.get('Retry-After')).toBe('60')
  expect(processed).toBeGreaterThanOrEqual(30)
})
