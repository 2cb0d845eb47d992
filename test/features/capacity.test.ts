import { env } from 'cloudflare:workers'
import { beforeAll, expect, it, vi } from 'vitest'
import { type Reader, send, signUp } from '../support/api'
import { join } from '../support/bytes'
import { jpeg } from '../support/pictures'
import { wrapDatabase } from '../support/wrap-database'

let reader: Reader
beforeAll(async () => {
  reader = await signUp()
})

const MIB = 1024 * 1024
const library = '/books/library?page=1&size=5&bookStatus=YET'

it('refuses at once what would wait behind 128 calls of the database, and takes it when they are over', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const DB = wrapDatabase(env.DB, async (call) => {
    await held
    return call()
  })
  const waiting = Array.from({ length: 128 }, () => send('GET', '/health', { changed: { DB } }))
  await scheduler.wait(500)
  const refused = await send('GET', '/health', { changed: {} })
  expect(refused).toMatchObject({ status: 503, body: { status: 503 } })
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  release()
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(128).fill(200))
  expect((await reader.send('GET', library, { changed: {} })).status).toBe(200)
})

it('takes the places of calls that are never answered back', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const DB = wrapDatabase(env.DB, () => new Promise<never>(() => {}))
  const lost = Array.from({ length: 128 }, () => send('GET', '/health', { changed: { DB } }))
  expect((await Promise.all(lost)).map(({ status }) => status)).toEqual(Array(128).fill(503))
  error.mockRestore()
  expect((await send('GET', '/health', { changed: {} })).status).toBe(200)
})

it('holds no more large uploads at once than there is room for, and answers all of them', async () => {
  let inBucket = 0
  let most = 0
  const put = async (...args: Parameters<R2Bucket['put']>) => {
    inBucket += 1
    most = Math.max(most, inBucket)
    await scheduler.wait(100)
    const stored = await env.IMAGES.put(...args)
    inBucket -= 1
    return stored
  }
  const IMAGES = { put } as unknown as R2Bucket
  const small = jpeg()
  // A longer scan.
  const picture = join(small.subarray(0, -2), new Uint8Array(9 * MIB), small.subarray(-2))
  const answers = await Promise.all(Array.from({ length: 6 }, () => reader.uploads(picture, { changed: { IMAGES } })))
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201))
  expect(most).toBe(2)
})
