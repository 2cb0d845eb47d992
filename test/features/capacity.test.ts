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

it('refuses a request with 503 while 128 database calls are in progress', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const DB = wrapDatabase(env.DB, async (call) => {
    await held
    return call()
  })
  const running = Array.from({ length: 128 }, () => send('GET', '/health', { changed: { DB } }))
  await scheduler.wait(500)
  const refused = await send('GET', '/health', { changed: {} })
  expect(refused).toMatchObject({ status: 503, body: { status: 503 } })
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  release()
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array(128).fill(200))
  expect((await reader.send('GET', library, { changed: {} })).status).toBe(200)
})

it('frees the capacity of database calls that time out', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const DB = wrapDatabase(env.DB, () => new Promise<never>(() => {}))
  const hanging = Array.from({ length: 128 }, () => send('GET', '/health', { changed: { DB } }))
  expect((await Promise.all(hanging)).map(({ status }) => status)).toEqual(Array(128).fill(503))
  error.mockRestore()
  expect((await send('GET', '/health', { changed: {} })).status).toBe(200)
})

it('processes at most two large uploads concurrently, and queues the others', async () => {
  let active = 0
  let highest = 0
  const put = async (...args: Parameters<R2Bucket['put']>) => {
    active += 1
    highest = Math.max(highest, active)
    await scheduler.wait(100)
    const stored = await env.IMAGES.put(...args)
    active -= 1
    return stored
  }
  const IMAGES = { put } as unknown as R2Bucket
  const small = jpeg()
  // Large because its scan data is long.
  const picture = join(small.subarray(0, -2), new Uint8Array(9 * MIB), small.subarray(-2))
  const answers = await Promise.all(Array.from({ length: 6 }, () => reader.upload(picture, { changed: { IMAGES } })))
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201))
  expect(highest).toBe(2)
})
