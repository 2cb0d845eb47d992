// @module-tag slow
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Mark, toMark } from '../../src/values/marks'
import { createDatabase, createFolder } from './databases.ts'
import { open } from './opened.ts'

it('repeats what operators did, and lets in no replaced password', async () => {
  const data = join(createFolder(), 'data')
  for (const binding of ['DB', 'DB_1']) createDatabase(data, binding).close()
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  const { signUp, query, idOf, bucket, verify, dispose } = await open(data)
  const [CHANGED, KNOWN, OLD, BLOCKED, ENDED] = [1, 2, 3, 4, 5] as const
  const backup = Date.now() - 3_600_000
  const insertToken = `insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt, kind) values (?1, ?2, ?1, '', 1, '', 1, ?3)`
  for (const member of [CHANGED, KNOWN, OLD, BLOCKED, ENDED]) {
    await signUp(1, member)
    await query(1, insertToken, `token ${member}`, idOf(1, member), null)
    await query(1, insertToken, `link ${member}`, idOf(1, member), 'SHELF')
  }
  const recordPassword = (member: number, at: number) =>
    query(1, `insert into activity values (?, 0, 1, ?, 'PASSWORD_CHANGED', null, null, 1, null)`, idOf(1, member), at)
  await recordPassword(KNOWN, backup)
  const mark = (kind: Mark['kind'], member: number, minutes: number, action = '') =>
    bucket.put(toMark({ kind, memberId: idOf(1, member), at: backup + minutes * 60_000, action }), '')
  await mark('password', CHANGED, 5)
  await mark('password', KNOWN, 0.01)
  await mark('password', OLD, -5)
  for (const [minutes, action] of ['block', 'unblock', 'block', 'quota MAX_BOOKS=5', 'quota MAX_BOOKS=7'].entries())
    await mark('operator', BLOCKED, minutes, action)
  for (const [minutes, action] of ['block', 'unblock', 'export', 'delete-link link 3'].entries())
    await mark('operator', OLD, minutes, action)
  await mark('operator', OLD, 5, 'failed: export: /a//../b: 100%2F')
  await mark('operator', ENDED, 1, 'end-sessions')
  const image = `images/${idOf(1, KNOWN)}/${'a'.repeat(22)}.png`
  await bucket.put(image, 'image', { httpMetadata: { contentType: 'image/png' } })
  await query(
    1,
    `insert into books (bookId, memberId, title, author, createdAt, cover) values (?1 + 0, ?1, 'Demian', '', '2026-01-01T00:00:00', ?2)`,
    idOf(1, KNOWN),
    `https://library.example/${image}`,
  )
  await query(1, insertToken, 'another', idOf(1, KNOWN), 'SHELF')
  await mark('operator', KNOWN, 6, `take-down image ${image.split('/')[2]} report 12`)
  await mark('operator', KNOWN, 7, 'take-down link another report 13')

  const repeated = ['actions of operators repeated: 6', 'passwords to be reset: 1'].map((line) => `DB_1: ${line}`)
  const added = 'entries of the log of operators added: 13'
  expect(await verify({ repair: true, restored: 'all' })).toEqual([...repeated, added])
  expect(await verify({ repair: true, restored: 'all' })).toEqual([])
  const rows = (table: string, columns: string) =>
    query(1, `select ${columns} from ${table} where memberId > ${idOf(1, 0)} order by 1`)
  const each = (password: string, isBlocked: number, maxBooks: number | null, credentialsVersion: number) => {
    return { passwordHash: password, isBlocked, maxBooks, credentialsVersion }
  }
  const unchanged = each('hash', 0, null, 0)
  expect(
    await rows('members', `memberId, passwordHash, blockedAt is not null as isBlocked, maxBooks, credentialsVersion`),
  ).toMatchObject([each('', 0, null, 1), unchanged, unchanged, each('hash', 1, 7, 1), unchanged])
  expect((await rows('sessions', 'memberId')).map(({ memberId }) => memberId)).toEqual(
    [KNOWN, OLD, BLOCKED].map((member) => idOf(1, member)),
  )
  expect((await rows('accessTokens', 'tokenHash')).map(({ tokenHash }) => tokenHash)).toEqual([
    'blocked link 4',
    'blocked token 4',
    'link 1',
    'link 2',
    'token 2',
    'token 3',
  ])
  expect(await query(0, `select action from operatorLog where action glob 'failed*'`)).toEqual([
    { action: 'failed: export: /a//../b: 100%2F' },
  ])
  expect([await bucket.head(image), await query(1, 'select cover from books')]).toEqual([null, [{ cover: null }]])
  const log = await query(0, 'select action from operatorLog order by at, memberId limit 3')
  expect(log).toEqual([{ action: 'block' }, { action: 'block' }, { action: 'unblock' }])
  await dispose()
})

const NEWER = Date.parse('2026-02-01T00:00:00Z')
const REFUSALS = [
  ['refuseCover', 'update of cover on books'],
  ['refusePassword', 'update of passwordHash on members'],
]

it('names a mark that it cannot repeat, and repeats the others', async () => {
  const data = join(createFolder(), 'data')
  createDatabase(data).close()
  const { signUp, upload, query, idOf, keyOf, bucket, verify, dispose } = await open(data)
  for (const member of [1, 2, 3]) await signUp(0, member)
  await upload(0, 1, 'a')
  await query(
    0,
    `insert into books (memberId, title, author, createdAt, cover) values (?, 'Demian', '', '2026-01-01T00:00:00', ?)`,
    idOf(0, 1),
    `https://library.example/${keyOf(0, 1, 'a')}`,
  )
  await query(0, `insert into activity values (?, 0, 1, 1, 'LOGGED_IN', null, null, 1, null)`, idOf(0, 3))
  const mark = async (kind: Mark['kind'], member: number, at: number, action = '') => {
    const key = toMark({ kind, memberId: idOf(0, member), at: NEWER + at, action })
    await bucket.put(key, '')
    return key
  }
  const failing = await mark('operator', 1, 1, `take-down image ${'a'.repeat(22)}.png report/12`)
  await mark('operator', 2, 2, 'block')
  const password = await mark('password', 3, 3)
  for (const [name, when] of REFUSALS)
    await query(0, `create trigger ${name} before ${when} begin select raise(abort, 'refused'); end`)

  const failure = (key: string) =>
    new RegExp(
      `^DB: ${RegExp.escape(key)}: not repeated: .*refused.*: run .npm run db -- verify --repair --after-restore 0`,
    )
  expect(await verify({ repair: true, restored: 'all' })).toEqual(
    expect.arrayContaining([
      expect.stringMatching(failure(failing)),
      expect.stringMatching(failure(password)),
      'DB: actions of operators repeated: 1',
    ]),
  )
  expect(await query(0, 'select memberId from members where blockedAt is not null')).toEqual([{ memberId: idOf(0, 2) }])
  for (const [name] of REFUSALS) await query(0, `drop trigger ${name}`)
  expect(await verify({ repair: true, restored: 'all' })).toEqual([
    'DB: actions of operators repeated: 1',
    'DB: passwords to be reset: 1',
  ])
  expect([await bucket.head(keyOf(0, 1, 'a')), await query(0, 'select cover from books')]).toEqual([
    null,
    [{ cover: null }],
  ])
  await dispose()
})
