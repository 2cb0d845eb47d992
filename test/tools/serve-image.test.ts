// @module-tag slow
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { localPath } from '../../scripts/data/stores.ts'
import { createImage } from './image.ts'
import { buildWorkers, startServe } from './serve.ts'

/** Whether other users may enter a folder. */
const isOpen = (path: string): boolean =>
  (statSync(path).mode & 1) === 1 && (dirname(path) === path || isOpen(dirname(path)))
// `npm test` keeps its temporary files in a folder that only their owner may enter.
const folder = mkdtempSync(join([tmpdir(), '/tmp'].find(isOpen) ?? tmpdir(), 'reading-library-'))
const [image, next, data, temporary] = ['image', 'next', 'data', 'tmp'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
  string,
]
/** Another user than that of the files, if that one can reach the packages. */
const NOBODY = process.getuid?.() === 0 && isOpen(resolve('node_modules')) ? { uid: 65_534, gid: 65_534 } : {}
const MEMBER = { email: 'mina@example.com', password: 'read-more-1' }

beforeAll(() => {
  buildWorkers()
  chmodSync(folder, 0o755)
  for (const each of [image, data, temporary]) mkdirSync(each)
  if (NOBODY.uid) for (const each of [data, temporary]) chownSync(each, NOBODY.uid, NOBODY.gid)
  createImage(image)
  cpSync(image, next, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  const migration = `ALTER TABLE books ADD shelfMark text;--> statement-breakpoint
CREATE INDEX booksOfShelfMark ON books (memberId, shelfMark);`
  writeFileSync(join(next, 'migrations', '0001_next.sql'), migration)
})
afterAll(() => rmSync(folder, { recursive: true }))

const SETTINGS = { SIGN_UP: 'open', EMAIL_VERIFICATION: 'off', HOME: temporary, TMPDIR: temporary }
const start = (cwd: string) => startServe(data, SETTINGS, { cwd, ...NOBODY })

it('runs with the files of the image as another user, and again with the next version', async () => {
  await using first = await start(image)
  await first.post('/join', { ...MEMBER, name: 'Mina', authenticationCode: '0' })
  const { headers } = await first.post('/login', MEMBER)
  const session = { Authorization: headers.get('Authorization') ?? '' }
  expect(await first.post('/books', { title: 'Demian' }, session)).toMatchObject({ status: 201 })
  expect((await fetch(`${first.base}/docs`)).status).toBe(200)
  expect(await first.end()).toBe(0)

  await using upgraded = await start(next)
  expect(upgraded.lines).toContain('DB: applied 0001_next.sql')
  const books = await fetch(`${upgraded.base}/books/library?page=1&size=10&bookStatus=YET`, { headers: session })
  expect(await books.json()).toMatchObject({ item: [{ title: 'Demian' }] })
  expect(await upgraded.post('/books', { title: 'Low Tide' }, session)).toMatchObject({ status: 201 })
  expect(await upgraded.end()).toBe(0)
  using database = new DatabaseSync(localPath(data, 'DB'), { readOnly: true })
  expect(database.prepare('select title, shelfMark from books order by bookId').all()).toEqual([
    { title: 'Demian', shelfMark: null },
    { title: 'Low Tide', shelfMark: null },
  ])
  expect(database.prepare(`select 1 from sqlite_schema where name = 'booksOfShelfMark'`).all()).toHaveLength(1)

  await using older = await start(image)
  expect([older.child.exitCode, older.lines]).toEqual([
    1,
    [
      expect.stringContaining(
        'has data of another version of the service (migration 0001_next.sql): start that version',
      ),
    ],
  ])
  expect(readdirSync(temporary)).toEqual([])
})

it('has a Dockerfile and a compose.yaml that agree', () => {
  const [dockerfile, compose] = ['Dockerfile', 'compose.yaml'].map((path) => readFileSync(path, 'utf8')) as [
    string,
    string,
  ]
  // For amd64 and arm64, as workerd.
  expect(new Set(dockerfile.match(/^FROM \S+/gm))).toEqual(new Set(['FROM node:24-trixie-slim']))
  expect(dockerfile).toMatch(/^USER node$/m)
  const [, volume] = /^VOLUME (.+)$/m.exec(dockerfile) ?? []
  const [, port] = /^EXPOSE (.+)$/m.exec(dockerfile) ?? []
  expect(compose).toContain(`- data:${volume}`)
  expect(compose).toContain(`:${port}"`)
  expect(dockerfile).toMatch(new RegExp(`^CMD .+"--data", "${volume}"\\]$`, 'm'))
})
