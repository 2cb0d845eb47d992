// @module-tag slow
import type { R2Bucket } from '@cloudflare/workers-types'
import { expect, it } from 'vitest'
import { findShared, isUrl } from '../../scripts/members/shared.ts'
import { type ImageTarget, removeImage } from '../../scripts/members/take-down.ts'
import { createLinkSecret, hashToken } from '../../src/auth/access-token.ts'
import { toVariant } from '../../src/values/link.ts'
import { count, createSlots, JUN, MINA, readAll } from './member-slots.ts'

const SHELF = { kind: 'SHELF', bookStatus: 'DONE', hasTag: false } as const

it('finds what the URL of a link shows, with any suffix, and ends only that link', async () => {
  const { main, slot1, run, runScript } = await createSlots()
  const secret = createLinkSecret({ slot: 1, kind: 'SHELF', variant: toVariant(SHELF) })
  const insert =
    slot1.prepare(`insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt, kind, bookStatus)
    values (?, ${JUN}, ?, 'Shown', 1073741824, '', 0, 'SHELF', 'DONE')`)
  insert.run(await hashToken(secret), 'link')
  insert.run('another hash', 'another')
  slot1.exec(`update accessTokens set kind = 'MEMOS', bookStatus = null where tokenId = 'another'`)
  const description = 'link link (Shown): shows books with the status DONE'
  const other = 'also link another (Shown): shows all memos that are PUBLIC'
  for (const address of [secret, `${secret}.feed.json`, `${secret}?cursor=a`, `${secret}.svg?theme=dark#top`])
    expect(await run('find', `https://library.example/base/l/${address}`)).toBe(
      `${JUN} jun@example.com slot 1\n${description}\n${other}`,
    )
  const url = `http://localhost:8787/l/${secret}`
  await expect(run('find', `${url}x`)).rejects.toThrow(/^Neither the URL of a link/)
  await expect(
    run(
      'find',
      url.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
    ),
  ).rejects.toThrow(/typo/)
  const unknown = createLinkSecret({ slot: 2, kind: 'MEMOS', variant: 0 })
  await expect(run('find', `https://library.example/l/${unknown}`)).rejects.toThrow(/^No link has this address/)

  await expect(run('take-down', url)).rejects.toThrow(/^Add --reason/)
  await expect(run('take-down', url, '--reason', 'two\nlines')).rejects.toThrow(/^Add --reason/)
  const line = `take-down ${JUN}: ${description}`
  expect(await run('take-down', url, '--reason', 'report 12', '--dry-run')).toBe(`${line} (dry run)\n${other}`)
  expect([count(slot1, 'accessTokens'), count(main, 'operatorLog')]).toEqual([3, 0])
  await run('block', String(JUN))
  expect(await run('find', url)).toContain(description)
  expect(await runScript('take-down', url, '--reason', 'report 12')).toBe(`${line}\n${other}`)
  expect(readAll(slot1, 'accessTokens')).toMatchObject([{ tokenId: 'another' }, { tokenId: 't' }])
  expect(await run('log')).toMatch(new RegExp(`Z take-down link link report 12 ${JUN}$`))
  await expect(run('take-down', url, '--reason', 'report 12')).rejects.toThrow(/^No link has this address/)
  expect(await runScript('take-down', 'jun@example.com', '--reason', 'report 12')).toMatch(/^2 Usage/)
  expect(await runScript('show', url)).toMatch(/^2 Usage/)
})

const NAME = `${'a'.repeat(22)}.png`
const OTHER = `images/${MINA}/${'b'.repeat(22)}.png`
const URL_OF_IMAGE = `https://images.example/images/${MINA}/${NAME}`

/** Mina has an image in all memos, and on the cover of a book. */
const addImage = async ({ main, bucket }: Pick<Awaited<ReturnType<typeof createSlots>>, 'main' | 'bucket'>) => {
  for (const key of [`images/${MINA}/${NAME}`, OTHER])
    await bucket.put(key, 'image', { httpMetadata: { contentType: 'image/png' } })
  for (const name of [NAME, OTHER.split('/')[2]])
    main
      .prepare(`insert into images (memberId, name, type, bytes, createdAt) values (?, ?, 'image/png', 5, ?)`)
      .run(MINA, name ?? '', '2026-01-01T00:00:00')
  const contents = [
    `Before <b>it</b> <img alt="x" src="${URL_OF_IMAGE}" width=5> and <img src="https://images.example/${OTHER}">`,
    `![A page](${URL_OF_IMAGE} "Page") and ${URL_OF_IMAGE}`,
  ]
  for (const [at, content] of contents.entries())
    main.prepare('update memos set memoContent = ?, contentFolded = null where memoId = ?').run(content, at + 1)
  main.prepare('update books set cover = ? where bookId = 2').run(URL_OF_IMAGE)
}
const REMAINS = [
  {
    memoContent: `Before <b>it</b> [image removed] and <img src="https://images.example/${OTHER}">`,
    version: expect.any(Number),
  },
  { memoContent: '[image removed] and [image removed]', version: expect.any(Number) },
]

it('removes an image, and what refers to it', async () => {
  const { main, bucket, run } = await createSlots()
  await addImage({ main, bucket })
  const found = await run('find', `${URL_OF_IMAGE}?size=5`)
  expect(found).toMatch(
    /^1 Mina@example\.com slot 0\nimage a{22}\.png \(image\/png, 5 bytes, of 2.+Z\): in memos 1, 2; /,
  )
  expect(found).toMatch(/covers of books 2$/)
  expect(await run('take-down', URL_OF_IMAGE, '--reason', 'report 13')).toMatch(/^take-down 1: image a{22}/)
  expect([await bucket.head(`images/${MINA}/${NAME}`), await bucket.head(OTHER)]).toEqual([null, expect.anything()])
  expect(readAll(main, 'memos')).toMatchObject(REMAINS)
  expect(readAll(main, 'books').map(({ cover }) => cover)).toEqual([null, null])
  expect(readAll(main, 'members')).toMatchObject([{ imageCount: 1 }])
  expect(await run('log')).toMatch(/Z take-down image a{22}\.png report 13 1$/)
  await expect(run('find', URL_OF_IMAGE)).rejects.toThrow(/^There is no such image/)
  const ofOther = URL_OF_IMAGE.replace('/1/', '/9/')
  await expect(run('find', ofOther)).rejects.toThrow(/^There is no such image/)
  await bucket.put(`images/9/${NAME}`, 'image')
  await expect(run('find', ofOther)).rejects.toThrow(/withdrawn/)
})

const readArguments = (url: string, remote = false): Parameters<typeof findShared> => {
  const settings = { PUBLIC_URL: remote ? undefined : 'https://library.example', HOST: '192.168.1.20' }
  return [{ slots: [], bucket: NO_IMAGES, settings, isLocal: !remote }, url]
}
const NO_IMAGES = { head: async () => null } as unknown as R2Bucket

it.each([
  `https://evil.example/images/${MINA}/${NAME}`,
  `https://localhost:8812@evil.example/images/${MINA}/${NAME}`,
  `https://library.example.evil.example/images/${MINA}/${NAME}`,
  `https://library.example:444/images/${MINA}/${NAME}`,
])('refuses %s, which is of another service', async (url) => {
  await expect(findShared(...readArguments(url))).rejects.toThrow(
    /^\S+ is not the host of this service \(library\.example, localhost\): if it is, too, give only the path, \/images\/1\/a{22}\.png$/,
  )
})

it.each([
  'http://library.example',
  'https://library.example/base',
  'http://localhost:8812',
  'http://127.0.0.1',
  'http://192.168.1.20:8787',
  '',
  '/base',
])('looks for an image whose URL begins with %j', async (base) => {
  const url = `${base}/images/${MINA}/${NAME}`
  expect(isUrl(url)).toBe(true)
  await expect(findShared(...readArguments(url))).rejects.toThrow(/^There is no such image/)
})

it('asks for the host of a deployment that it does not know', async () => {
  const url = `http://localhost/images/${MINA}/${NAME}`
  await expect(findShared(...readArguments(url, true))).rejects.toThrow(/^Set PUBLIC_URL in the environ/)
  expect(['//evil.example/l/a', '/\\evil.example/l/a', 'mina@example.com', '12'].filter(isUrl)).toEqual([])
})

it('deletes an image again that an upload stores meanwhile', async () => {
  const { main, slots, bucket } = await createSlots()
  await addImage({ main, bucket })
  const key = `images/${MINA}/${NAME}`
  const rows: unknown[] = []
  // An upload that has found the row stores the object after each deletion but the last.
  const racing = {
    head: (each: string) => bucket.head(each),
    delete: async () => {
      rows.push(main.prepare('select 1 from images where name = ?').get(NAME))
      await (rows.length === 1 ? bucket.put(key, 'image') : bucket.delete(key))
    },
  }
  const target = { ...slots[0], bucket: racing, memberId: MINA, name: NAME, timeZone: 'UTC' } as unknown as ImageTarget
  expect(await removeImage(target)).toBe(true)
  expect([rows, await bucket.head(key)]).toEqual([[undefined, undefined], null])
})

it('logs what failed, and why, without addresses', async () => {
  const { main, bucket, run } = await createSlots()
  await addImage({ main, bucket })
  main.exec(
    `create trigger refuse before delete on images begin select raise(abort, 'refused by mina@example.com'); end`,
  )
  await expect(run('take-down', URL_OF_IMAGE, '--reason', 'report 13')).rejects.toThrow(/refused by/)
  main.exec('drop trigger refuse')
  const [done, failed] = (await run('log')).split('\n')
  expect(done).toMatch(/Z take-down image a{22}\.png report 13 1$/)
  expect(failed).toMatch(/Z failed: take-down image a{22}\.png report 13: .*refused by \(address\).* 1$/)
  await run('take-down', URL_OF_IMAGE, '--reason', 'report 13')
  expect(readAll(main, 'memos')).toMatchObject(REMAINS)
})
