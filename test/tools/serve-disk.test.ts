// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { localPath } from '../../scripts/data/stores.ts'
import { lockFolder } from '../../scripts/serve/lock.ts'
import { createFolder } from './databases.ts'
import { buildWorkers, startServe } from './serve.ts'

beforeAll(buildWorkers)

const MEMBER = { email: 'mina@example.com', password: 'read-more-1' }
const SETTINGS = { SIGN_UP: 'open', EMAIL_VERIFICATION: 'off' }

const signUp = async ({ post }: Awaited<ReturnType<typeof startServe>>) => {
  expect(await post('/join', { ...MEMBER, name: 'Mina', authenticationCode: '0' })).toMatchObject({ status: 201 })
  const { headers } = await post('/login', MEMBER)
  return { Authorization: headers.get('Authorization') ?? '' }
}

const canMount = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

/** A folder on a disk of its own. Returns also how to fill the disk but for some bytes, and how to free it. */
const mountDisk = () => {
  const folder = createFolder()
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder])
  onTestFinished(() => void execFileSync('umount', [folder]))
  const filler = join(folder, 'filler')
  const fill = (left = 0) => {
    const { bavail, bsize } = statfsSync(folder)
    writeFileSync(filler, new Uint8Array(bavail * bsize - left), { flag: 'a' })
  }
  return { folder, fill, free: () => rmSync(filler) }
}

it.skipIf(!canMount)('answers writes with 503 while the disk is full, and keeps what it answered before', async () => {
  const { folder, fill, free } = mountDisk()
  await using serve = await startServe(folder, SETTINGS)
  expect(serve.find(/^The disk of .+ has \d MB left/m)).not.toBeNull()
  const session = await signUp(serve)
  fill(300_000)
  const statuses: number[] = []
  for (let books = 0; books < 100 && statuses.at(-1) !== 503; books++)
    statuses.push((await serve.post('/books', { title: 'A title. '.repeat(20) }, session)).status)
  expect(new Set(statuses)).toEqual(new Set([201, 503]))
  const readBooks = (base: string) => fetch(`${base}/books/library?page=1&size=1&bookStatus=YET`, { headers: session })
  expect((await readBooks(serve.base)).status).toBe(200)
  expect(await serve.end()).toBe(0)

  fill()
  await using full = await startServe(folder, SETTINGS)
  expect(full.child.exitCode).toBe(1)
  expect(full.lines[0]).toContain('has 0 MB left: when it is full, the service answers writes with 503')
  free()
  await using again = await startServe(folder, SETTINGS)
  expect((await again.post('/books', { title: 'Demian' }, session)).status).toBe(201)
  using database = new DatabaseSync(localPath(folder, 'DB'), { readOnly: true })
  expect(database.prepare('select count(*) as books from books').get()).toEqual({ books: statuses.length })
})

it.skipIf(!canMount)('does not take a full disk for another process', () => {
  const { folder, fill } = mountDisk()
  fill()
  expect(() => lockFolder(folder)).toThrow(`${folder} cannot be locked: `)
})
