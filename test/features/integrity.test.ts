import { env } from 'cloudflare:workers'
import { beforeEach, expect, it } from 'vitest'
import { findMismatches, findOrphans } from '../../scripts/integrity'
import { type Reader, signUp } from '../support/api'
import { select } from '../support/database'
import { png } from '../support/pictures'

let reader: Reader
let memberId: number
let bookId: number
let memoId: number
beforeEach(async () => {
  reader = await signUp()
  memberId = Number((await select('select memberId from members where email = ?', reader.email))[0]?.memberId)
  bookId = (await reader.createBook({ bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00' })).bookId
  memoId = (await reader.createMemo(bookId)).memoId
  expect(await findMismatches(env.DB)).toEqual([])
})

const run = (query: string, ...values: unknown[]) =>
  env.DB.prepare(query)
    .bind(...values)
    .run()

it.each(['yetBooks', 'ingBooks', 'doneBooks', 'finishedBooks', 'memoBooks'])('finds a wrong %s', async (field) => {
  const [member] = await select(`select ${field} as expected from members where memberId = ?`, memberId)
  await run(`update members set ${field} = 7 where memberId = ?`, memberId)
  expect(await findMismatches(env.DB)).toEqual([
    { table: 'members', id: memberId, field, expected: member?.expected, found: 7 },
  ])
  await run(`update members set ${field} = ? where memberId = ?`, member?.expected, memberId)
})

it('finds wrong memo counters of a book', async () => {
  await run('update books set memoCount = 3, questionMemos = 2 where bookId = ?', bookId)
  expect(await findMismatches(env.DB)).toEqual([
    { table: 'books', id: bookId, field: 'memoCount', expected: 1, found: 3 },
    { table: 'books', id: bookId, field: 'questionMemos', expected: 0, found: 2 },
  ])
  await run('update books set memoCount = 1, questionMemos = 0 where bookId = ?', bookId)
})

it('finds a memo with a wrong position or owner', async () => {
  await run('update memos set position = 5 where memoId = ?', memoId)
  expect(await findMismatches(env.DB)).toEqual([
    { table: 'memos', id: memoId, field: 'position', expected: 1, found: 5 },
  ])
  await run('update memos set position = 1, memberId = 999 where memoId = ?', memoId)
  expect(await findMismatches(env.DB)).toEqual([
    { table: 'memos', id: memoId, field: 'memberId', expected: memberId, found: 999 },
  ])
  await run('update memos set memberId = ? where memoId = ?', memberId, memoId)
})

it.each(['books', 'memos'])('finds a reused identifier in %s', async (table) => {
  const id = table === 'books' ? bookId : memoId
  await run('insert or replace into retiredIds (tableName, id) values (?, ?)', table, id)
  expect(await findMismatches(env.DB)).toMatchObject([{ table, id, expected: `above ${id}`, found: id }])
  await run('delete from retiredIds where tableName = ?', table)
})

it('finds objects without a member, except those about to be purged', async () => {
  expect((await reader.upload(png())).status).toBe(201)
  const orphans = ['images/987654/aaaaaaaaaaaaaaaaaaaaaa.png', 'elsewhere/b.png']
  for (const key of orphans) await env.IMAGES.put(key, 'x')
  await env.IMAGES.put('images/987655/aaaaaaaaaaaaaaaaaaaaaa.png', 'x')
  await run('insert into purgeJobs values (987655, 0)')
  expect((await findOrphans(env.DB, env.IMAGES)).sort()).toEqual(orphans.sort())
})
