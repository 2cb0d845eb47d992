import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { addMissingRows, deleteImageRows, findOrphans } from '../../../scripts/data/objects'
import { parseTriggers, toChanges } from '../../../scripts/data/triggers'
import triggers from '../../../src/db/triggers.sql?raw'
import { type Reader, signUp } from '../../support/api'
import { fillShelf, memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { png } from '../../support/images/pictures'

describe('the schema rejects', () => {
  let memberId: number
  beforeAll(async () => {
    const reader = await signUp()
    memberId = await memberIdOf(reader)
    await reader.createMemo((await reader.createBook()).bookId)
  })

  const INVALID: Record<string, unknown[]> = {
    'books.bookStatus': ['READ', null],
    'books.star': [6, -1, 'five'],
    'books.currentPage': [-1, 2_147_483_648],
    'books.itemPage': [-1],
    'books.title': [null],
    'books.createdAt': ['2025-01-01', '2025-02-30T00:00:00', 'now'],
    'books.readStartDate': ['2025-01-01 00:00:00'],
    'books.readEndDate': ['2025-01-01T00:00:00Z'],
    'books.contentMemos': [-1],
    'books.memoCount': [9],
    'books.hasMemos': [0],
    'books.memberId': [999_999],
    'memos.memoType': ['NOTE'],
    'memos.memoAuthority': ['ALL'],
    'memos.memoBookPage': [-1],
    'memos.memoLikesCount': [-1],
    'memos.createdAt': [''],
    'memos.updatedAt': ['2025-01-01T25:00:00'],
    'memos.bookId': [999_999],
    'members.createdAt': ['yesterday'],
    'members.email': [null],
  }
  const cases = Object.entries(INVALID).flatMap(([field, values]) => values.map((value) => ({ field, value })))
  it.each(cases)('$field = $value', async ({ field, value }) => {
    const [table, column] = field.split('.')
    const update = select(`update ${table} set ${column} = ? where memberId = ?`, value, memberId)
    await expect(update).rejects.toThrow(/constraint/)
  })
})

describe('the triggers', () => {
  it('of a migrated database are those of triggers.sql', async () => {
    const migrated = await select(`select name, sql || ';' as sql from sqlite_master where type = 'trigger'`)
    expect(Object.fromEntries(migrated.map(({ name, sql }) => [name, sql]))).toEqual(
      Object.fromEntries(parseTriggers(triggers)),
    )
  })

  it('are created on one line each, if they have changed', () => {
    const kept = 'CREATE TRIGGER kept AFTER INSERT ON memos BEGIN SELECT 1; END;'
    const changed = kept.replace('kept', 'changed')
    const wanted = parseTriggers(
      `-- A comment.\n\n${kept}\n\nCREATE TRIGGER changed AFTER INSERT ON memos\nBEGIN\n  -- Why.\n  SELECT 2;\nEND;\n`,
    )
    const migrated = parseTriggers([kept, changed, kept.replace('kept', 'dropped')].join('\n'))
    expect(toChanges(migrated, wanted)).toEqual([
      'DROP TRIGGER changed;',
      'DROP TRIGGER dropped;',
      changed.replace('1', '2'),
    ])
    expect(toChanges(wanted, wanted)).toEqual([])
  })
})

describe('migrations', () => {
  it('keep all rows and counters of a populated database', async () => {
    const db = env.MIGRATED
    const countRows = async () => {
      const counts = ['members', 'books', 'memos'].map((table) => db.prepare(`select count(*) as n from ${table}`))
      return (await db.batch<{ n: number }>(counts)).map(({ results }) => results[0]?.n)
    }
    for (const [index, { name }] of env.MIGRATIONS.entries()) {
      const before = index === 0 ? [0, 0, 0] : await countRows()
      await applyD1Migrations(db, env.MIGRATIONS.slice(0, index + 1))
      expect(await countRows(), name).toEqual(before)
      const member = db.prepare(`
        insert into members (email, name, passwordHash, createdAt, updatedAt)
        values ('m' || ? || '@library.test', 'M', 'x', '2026-01-01T00:00:00', '2026-01-01T00:00:00') returning memberId
      `)
      await fillShelf((await member.bind(index).first<number>('memberId')) ?? 0, 50, db)
    }
    expect(await findMismatches(db)).toEqual([])
    expect(await countRows()).toEqual([1, 50, 5].map((rows) => rows * env.MIGRATIONS.length))
  })

  it('drop no table, which would cascade to child rows', () => {
    expect(JSON.stringify(env.MIGRATIONS)).not.toMatch(/drop table/i)
  })

  it('keep each trigger on one line, since remote D1 splits on semicolons', () => {
    const lines = env.MIGRATIONS.flatMap(({ queries }) => queries).flatMap((query) => query.split('\n'))
    for (const line of lines.filter((each) => /create trigger/i.test(each))) {
      expect(line).toMatch(/^CREATE TRIGGER .* END;?$/)
    }
  })

  it('use no CASE in triggers: remote D1 mistakes its END for the end of the trigger', () => {
    const triggers = env.MIGRATIONS.flatMap(({ queries }) => queries).filter((query) => /create trigger/i.test(query))
    expect(triggers.filter((trigger) => /\bcase\b/i.test(trigger))).toEqual([])
  })
})

describe('the integrity check', () => {
  let reader: Reader
  let memberId: number
  let bookId: number
  let memoId: number
  beforeEach(async () => {
    reader = await signUp()
    memberId = await memberIdOf(reader)
    bookId = (await reader.createBook({ bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00' })).bookId
    memoId = (await reader.createMemo(bookId)).memoId
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  const COUNTERS =
    'yetBooks ingBooks doneBooks finishedBooks undatedBooks memoBooks textBytes imageCount imageBytes'.split(' ')
  it.each(COUNTERS)('finds a wrong %s', async (field) => {
    const [member] = await select(`select ${field} as expected from members where memberId = ?`, memberId)
    await select(`update members set ${field} = 7 where memberId = ?`, memberId)
    expect(await findMismatches(memberDatabase())).toEqual([
      { table: 'members', id: memberId, field, ...member, found: 7 },
    ])
    await select(`update members set ${field} = ? where memberId = ?`, member?.expected, memberId)
  })

  it('finds wrong memo counters of a book', async () => {
    await select('update books set memoCount = 3, questionMemos = 2, memoBytes = 1 where bookId = ?', bookId)
    const [member] = await select('select textBytes from members where memberId = ?', memberId)
    const mismatch = { table: 'books', id: bookId }
    expect(await findMismatches(memberDatabase())).toEqual([
      { ...mismatch, field: 'memoCount', expected: 1, found: 3 },
      { ...mismatch, field: 'questionMemos', expected: 0, found: 2 },
      { ...mismatch, field: 'memoBytes', expected: 9, found: 1 },
      { table: 'members', id: memberId, field: 'textBytes', expected: 5425, found: member?.textBytes },
    ])
    await select('update books set memoCount = 1, questionMemos = 0, memoBytes = 9 where bookId = ?', bookId)
  })

  it('finds a document of another member’s book, and a position without a document', async () => {
    const { bookId: other } = await (await signUp()).createBook()
    await select(`insert into documents (memberId, document, createdAt, bookId) values (?, 'd', 0, ?)`, memberId, other)
    await select(
      `insert into positions (memberId, document, tokenId, at, percentage, progress, device, deviceId)
      values (?, 'none', 't', 0, 0.5, '', '', '')`,
      memberId,
    )
    expect(await findMismatches(memberDatabase())).toEqual([
      { table: 'documents', id: 'd', field: 'bookId', expected: 'that of no other member', found: other },
      { table: 'positions', id: 'none', field: 'document', expected: null, found: 'none' },
    ])
    await select('delete from documents where memberId = ?', memberId)
    await select('delete from positions where memberId = ?', memberId)
  })

  it('finds a memo with a wrong position or owner', async () => {
    const mismatch = { table: 'memos', id: memoId }
    await select('update memos set position = 5 where memoId = ?', memoId)
    expect(await findMismatches(memberDatabase())).toEqual([{ ...mismatch, field: 'position', expected: 1, found: 5 }])
    await select('update memos set position = 1, memberId = 999 where memoId = ?', memoId)
    expect(await findMismatches(memberDatabase())).toEqual([
      { ...mismatch, field: 'memberId', expected: memberId, found: 999 },
    ])
    await select('update memos set memberId = ? where memoId = ?', memberId, memoId)
  })

  it('finds the same in steps of one member, and a memo without a member', async () => {
    const others = [await signUp(), await signUp()]
    for (const other of others) await other.createBook()
    await select('update books set memoCount = 3, questionMemos = 2, memoBytes = 1 where bookId = ?', bookId)
    await select('update memos set memberId = 999 where memoId = ?', memoId)
    const inOneStep = await findMismatches(memberDatabase())
    const report = vi.fn()
    const inSteps = await findMismatches(memberDatabase(), undefined, { booksPerStep: 1, report })
    expect(report.mock.calls.length).toBeGreaterThan(2)
    expect(inOneStep).toHaveLength(5)
    expect(inSteps).toHaveLength(5)
    expect(inSteps).toEqual(expect.arrayContaining(inOneStep))
    await select('update memos set memberId = ? where memoId = ?', memberId, memoId)
    await select('update books set memoCount = 1, questionMemos = 0, memoBytes = 9 where bookId = ?', bookId)
    await select('delete from members where memberId <> ?', memberId)
  })

  it.each(['books', 'memos'])('finds a reused identifier in %s', async (table) => {
    const id = table === 'books' ? bookId : memoId
    await select('insert or replace into retiredIds (tableName, id) values (?, ?)', table, id)
    expect(await findMismatches(memberDatabase())).toMatchObject([{ table, id, expected: `above ${id}`, found: id }])
    await select('delete from retiredIds where tableName = ?', table)
  })

  it('finds an undo that restores the address in use, two that restore the same one, and two that expire in the wrong order', async () => {
    const now = Date.now()
    const insertUndo = (undoId: number, email: string, expiresAt: number) =>
      select(
        'insert into emailUndos (undoId, memberId, codeHash, email, expiresAt) values (?1, ?2, ?1, ?3, ?4)',
        ...[undoId, memberId, email, now + expiresAt],
      )
    await insertUndo(1, 'first@library.test', 100_000)
    await insertUndo(2, reader.email.toUpperCase(), 100_001)
    await insertUndo(3, 'First@library.test', 100_003)
    await insertUndo(4, 'fourth@library.test', 100_002)
    const found = (await findMismatches(memberDatabase())).map(({ table, id, field }) => [table, id, field])
    expect(found).toEqual([
      ['emailUndos', 1, 'email'],
      ['emailUndos', 2, 'email'],
      ['emailUndos', 3, 'expiresAt'],
    ])
    await select('update emailUndos set expiresAt = expiresAt - 200000')
    expect(await findMismatches(memberDatabase())).toEqual([])
    await select('delete from emailUndos')
  })

  it('finds a tag that neither a book has nor a link shows', async () => {
    await select(`insert into tags (memberId, tagId, tag, tagKey) values (?, 77, 'Lost', 'lost')`, memberId)
    const found = await findMismatches(memberDatabase())
    await select('delete from tags where tagId = 77')
    expect(found).toEqual([{ table: 'tags', id: 77, field: 'bookCount', expected: null, found: 0 }])
  })

  it('finds a row of another slot', async () => {
    const other = memberSlot() + 1
    await select(`insert into operatorLog values (1, 0, 'block', 1)`)
    const found = await findMismatches(memberDatabase(), other)
    await select('delete from operatorLog')
    const expected = `of slot ${other}`
    expect(found).toContainEqual({ table: 'books', id: bookId, field: 'bookId', expected, found: bookId })
    expect(found.map(({ table }) => table)).toEqual(expect.arrayContaining(['members', 'memos', 'operatorLog']))
  })

  it('finds objects without a row and rows without an object, except those about to be purged', async () => {
    expect((await reader.upload(png())).status).toBe(201)
    const [unlisted, lost] = [`images/${memberId}/${'a'.repeat(22)}.png`, `images/${memberId}/${'b'.repeat(22)}.png`]
    const httpMetadata = { contentType: 'image/png' }
    for (const key of [unlisted, 'elsewhere/b.png', 'images/987655/c.png'])
      await env.IMAGES.put(key, 'x', { httpMetadata })
    await select('insert into purgeJobs values (987655, 0)')
    const insertRow = `insert into images (memberId, name, type, bytes, createdAt) values (?, ?, 'image/png', 1, '2026-01-01T00:00:00')`
    await select(insertRow, memberId, lost.split('/')[2])
    const find = async () => {
      const { objects, rows } = await findOrphans([memberDatabase()], env.IMAGES)
      return { objects: objects.sort(), rows }
    }
    expect(await find()).toEqual({ objects: ['elsewhere/b.png', unlisted], rows: [lost] })

    const add = () => addMissingRows([{ slot: memberSlot(), database: memberDatabase() }], env.IMAGES, 'UTC', () => {})
    expect(await add()).toBe(1)
    expect(await add()).toBe(0)
    await deleteImageRows([memberDatabase()], [lost])
    expect(await find()).toEqual({ objects: ['elsewhere/b.png'], rows: [] })
    expect(await findMismatches(memberDatabase())).toEqual([])
  })
})
