import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { signUp } from '../support/api'
import { disagreements, fillShelf, select } from '../support/database'

describe('counters and positions', () => {
  it('agree with the rows after 400 random writes', async () => {
    const readers = [await signUp(), await signUp()]
    const random = seededRandom(20_261_121)
    const pick = <T>(list: T[]): T | undefined => list[Math.floor(random() * list.length)]
    const books: { of: number; bookId: number }[] = []
    const memos: { of: number; memoId: number }[] = []
    const maybeDate = () => pick([null, '2025-05-05T00:00:00', '2026-01-01T12:00:00'])

    for (let step = 0; step < 400; step++) {
      const of = step % 2
      const reader = readers[of]
      if (!reader) throw new Error('no reader')
      const book = pick(books.filter((each) => each.of === of))
      const memo = pick(memos.filter((each) => each.of === of))
      const roll = random()
      if (roll < 0.2 || !book) {
        books.push({ of, ...(await reader.createBook({ bookStatus: pick([0, 1, 2]), readEndDate: maybeDate() })) })
      } else if (roll < 0.55 || !memo) {
        memos.push({ of, ...(await reader.createMemo(book.bookId, { memoType: pick([0, 1, 2, 3]) })) })
      } else if (roll < 0.7) {
        await reader.patch(`/books/${book.bookId}`, { bookStatus: pick([0, 1, 2]), readEndDate: maybeDate() })
      } else if (roll < 0.8) {
        await reader.patch(`/memos/${memo.memoId}`, { memoType: pick([0, 1, 2, 3]) })
      } else if (roll < 0.93) {
        await reader.delete(`/memos/${memo.memoId}`)
        memos.splice(memos.indexOf(memo), 1)
      } else {
        await reader.delete(`/books/${book.bookId}`)
        books.splice(books.indexOf(book), 1)
        const left = await select('select memoId from memos')
        const ids = new Set(left.map(({ memoId }) => memoId))
        memos.splice(0, memos.length, ...memos.filter(({ memoId }) => ids.has(memoId)))
      }
    }
    expect(await disagreements()).toEqual([])
    expect(memos.length).toBeGreaterThan(20)

    await readers[0]?.delete('/members/me')
    expect(await disagreements()).toEqual([])
    expect(await select('select distinct memberId from memos')).toHaveLength(1)
  })

  it('allow a member with a large library to withdraw', async () => {
    const reader = await signUp()
    const [member] = await select('select memberId from members where email = ?', reader.email)
    await fillShelf(Number(member?.memberId), 3000)
    expect(await disagreements()).toEqual([])
    expect((await reader.delete('/members/me')).status).toBe(204)
    expect(await select('select bookId from books where memberId = ?', member?.memberId)).toEqual([])
    expect(await select('select memoId from memos where memberId = ?', member?.memberId)).toEqual([])
  })
})

/** Mulberry32: seeded random numbers in [0, 1), so that a failure is reproducible. */
const seededRandom = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

describe('constraints', () => {
  let memberId: unknown
  let bookId: unknown
  beforeAll(async () => {
    const reader = await signUp()
    bookId = (await reader.createBook()).bookId
    memberId = (await select('select memberId from members where email = ?', reader.email))[0]?.memberId
    await reader.createMemo(Number(bookId))
  })
  const update = (table: string, column: string, value: unknown) =>
    env.DB.prepare(`update ${table} set ${column} = ? where memberId = ?`).bind(value, memberId).run()

  it.each([
    ['books', 'bookStatus', 'READ'],
    ['books', 'bookStatus', null],
    ['books', 'star', 6],
    ['books', 'star', -1],
    ['books', 'star', 'five'],
    ['books', 'currentPage', -1],
    ['books', 'currentPage', 2_147_483_648],
    ['books', 'itemPage', -1],
    ['books', 'title', null],
    ['books', 'createdAt', '2025-01-01'],
    ['books', 'createdAt', '2025-02-30T00:00:00'],
    ['books', 'createdAt', 'now'],
    ['books', 'readStartDate', '2025-01-01 00:00:00'],
    ['books', 'readEndDate', '2025-01-01T00:00:00Z'],
    ['books', 'contentMemos', -1],
    ['books', 'memoCount', 9],
    ['books', 'hasMemos', 0],
    ['books', 'memberId', 999_999],
    ['memos', 'memoType', 'NOTE'],
    ['memos', 'memoAuthority', 'ALL'],
    ['memos', 'memoBookPage', -1],
    ['memos', 'memoLikesCount', -1],
    ['memos', 'createdAt', ''],
    ['memos', 'updatedAt', '2025-01-01T25:00:00'],
    ['memos', 'bookId', 999_999],
    ['members', 'createdAt', 'yesterday'],
    ['members', 'email', null],
  ])('reject %s.%s = %o', async (table, column, value) => {
    await expect(update(table, column, value)).rejects.toThrow(/constraint/)
  })
})

describe('each migration', () => {
  it('keeps every row and counter of a populated database', async () => {
    const db = env.MIGRATED
    const rows = async () => {
      const counts = ['members', 'books', 'memos'].map((table) => db.prepare(`select count(*) as n from ${table}`))
      return (await db.batch<{ n: number }>(counts)).map(({ results }) => results[0]?.n)
    }
    for (const [at, { name }] of env.MIGRATIONS.entries()) {
      const before = at === 0 ? [0, 0, 0] : await rows()
      await applyD1Migrations(db, env.MIGRATIONS.slice(0, at + 1))
      expect(await rows(), name).toEqual(before)
      const member = db.prepare(`
        insert into members (email, name, passwordHash, createdAt, updatedAt)
        values ('m' || ? || '@library.test', 'M', 'x', '2026-01-01T00:00:00', '2026-01-01T00:00:00') returning memberId
      `)
      await fillShelf((await member.bind(at).first<number>('memberId')) ?? 0, 50, db)
      expect(await disagreements(db), name).toEqual([])
    }
    expect(await rows()).toEqual([1, 50, 5].map((each) => each * env.MIGRATIONS.length))
  })

  it('drops no table: that would delete the rows that refer to it', () => {
    expect(JSON.stringify(env.MIGRATIONS)).not.toMatch(/drop table/i)
  })

  it('has each trigger on one line: deployed D1 may split others at their semicolons', () => {
    for (const query of env.MIGRATIONS.flatMap(({ queries }) => queries)) {
      const trigger = query.split('\n').filter((line) => /create trigger/i.test(line))
      for (const line of trigger) expect(line).toMatch(/^CREATE TRIGGER .* END;?$/)
    }
  })
})
