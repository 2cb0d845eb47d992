// @module-tag slow
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checksOf } from '../../scripts/data/integrity.ts'
import { openStores } from '../../scripts/data/stores.ts'
import { addMember, createDatabase, createFolder, runCommand, runCommandIn } from './databases.ts'

const KEYS = ['a', 'b'].map((letter) => `images/1/${letter.repeat(22)}.png`)

it('finds what does not match, and repairs what is safe', async () => {
  const data = join(createFolder(), 'data')
  const database = createDatabase(data)
  addMember(database, [['A memo']])
  addMember(database, [])
  database.exec(`update members set withdrawnAt = 1 where memberId = 2;
    update members set blockedAt = 1 where memberId = 1;
    insert into sessions (memberId, sessionId, createdAt, renewedAt, expiresAt) values (1, 'one', 1, 1, 1e15);
    insert into images (memberId, name, type, bytes, createdAt)
      values (1, '${'b'.repeat(22)}.png', 'image/png', 1, '2026-01-01T00:00:00')`)
  const { bucket, dispose } = await openStores({ persistTo: data })
  await bucket.put(KEYS[0] ?? '', 'x', { httpMetadata: { contentType: 'image/png' } })
  await dispose()
  const verify = async (...flags: string[]) => {
    const { code, stdout } = await runCommand('verify', '--local', '--persist-to', data, ...flags)
    return { code, lines: stdout.trim().split('\n').slice(0, -1) }
  }

  const mismatches = [
    'sessions 1: sessionId is in use, expected set aside',
    'members 2: withdrawnAt is 1, expected a purge job',
    `${KEYS[0]}: object without a row`,
    `${KEYS[1]}: row without an object`,
  ]
  expect(await verify()).toEqual({ code: 1, lines: mismatches })
  expect(await verify('--repair')).toEqual({
    code: 0,
    lines: [
      'purge jobs added: 1',
      'sessions and access tokens of blocked members set aside: 1',
      'rows of images added: 1',
      'rows of missing images deleted: 1',
    ],
  })
  expect(await verify()).toEqual({ code: 0, lines: [] })
  expect(database.prepare('select name from images').all()).toEqual([{ name: `${'a'.repeat(22)}.png` }])
})

it('finds what the schema lacks, and what no migration has', async () => {
  const data = join(createFolder(), 'data')
  createDatabase(data).exec(`drop trigger books_resized; drop index books_by_star;
    create index books_by_star on books (star); alter table goals add shelf text; create table shelves (shelfId integer)`)
  const { code, stdout } = await runCommand('verify', '--local', '--persist-to', data)
  expect(code).toBe(1)
  expect(stdout.trim().split('\n').slice(0, -1)).toEqual([
    'trigger books_resized is missing',
    'index books_by_star is not that of the migrations',
    'table goals is not that of the migrations',
    'table shelves is in no migration',
  ])
})

it('repairs nothing without the key of the directory', async () => {
  const data = join(createFolder(), 'data')
  const [database] = [createDatabase(data), createDatabase(data, 'DB_1')]
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  addMember(database, [[]])
  const flags = ['--repair', '--after-restore', 'all', '--local', '--persist-to', data]
  const { code, stderr } = await runCommandIn('.', { ADDRESS_KEY: '' }, 'verify', ...flags)
  expect([code, stderr]).toEqual([2, expect.stringContaining('Set ADDRESS_KEY')])
  expect(database.prepare('select * from retiredIds').all()).toEqual([])
})

it.each([0, 1])('no check of slot %i reads a whole table', (slot) => {
  const database = createDatabase(join(createFolder(), 'data'))
  const scans = checksOf(slot).flatMap((query) => {
    const ofRange = query.replaceAll(':first', '1').replaceAll(':last', '5')
    const plan = database.prepare(`explain query plan ${ofRange}`).all()
    return plan.map(({ detail }) => String(detail)).filter((detail) => detail.startsWith('SCAN'))
  })
  // The last one has rows only in slot 0.
  const allowed = /^SCAN (?:CONSTANT ROW|\(subquery-\d+\)|sqlite_sequence|operatorLog)$/
  expect(scans.length).toBeGreaterThan(5)
  expect(scans.filter((scan) => !allowed.test(scan))).toEqual([])
})
