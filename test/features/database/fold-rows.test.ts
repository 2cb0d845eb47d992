import { expect, it } from 'vitest'
import { foldRows } from '../../../scripts/data/fold-rows'
import { findMismatches } from '../../../scripts/data/integrity'
import { signUp } from '../../support/api'
import { memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'

const fold = (isRepair = true) => foldRows(memberDatabase(), isRepair, () => {})
const columns = () =>
  Promise.all([
    select('select bookId, titleFolded, authorFolded from books order by bookId'),
    select('select memoId, contentFolded from memos order by memoId'),
    select('select * from authors order by memberId, authorKey'),
  ])

it('folds only rows that were written before the columns existed', async () => {
  const reader = await signUp()
  const memoContents = ['ДНЕВНИК', 'diary', '일기'.normalize('NFD'), '일기', `${'Ä'.repeat(60_000)}`]
  for (const author of ['ЧЕХОВ', 'Чехов', 'Chekhov', null]) {
    const { bookId } = await reader.createBook({ title: `Über ${author}`, author })
    for (const memoContent of memoContents) await reader.createMemo(bookId, { memoContent })
  }
  const { bookId } = await reader.createBook({ title: 'Diary' })
  await reader.createMemo(bookId, { memoContent: 'ДНЕВНИК' })
  const findDiary = async () =>
    (await reader.get(`/memos/search?bookId=${bookId}&q=${encodeURIComponent('дневник')}`)).body.item
  // More than a page of rows, and of bytes.
  const { bookId: large } = await reader.createBook({ title: 'Many' })
  for (let n = 0; n < 20; n++) await reader.createMemo(large, { memoContent: 'Ж'.repeat(60_000) })
  const memberId = await memberIdOf(reader)
  const insert = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200)
    insert into books (bookId, memberId, title, titleFolded, createdAt)
    select (select max(bookId) from books) + i, ${memberId}, 'Ö ' || i, 'ö ' || i, '2020-01-01T00:00:00' from n`
  await memberDatabase().prepare(insert).run()
  const expected = await columns()

  for (const statement of [
    'update books set titleFolded = null, authorFolded = null',
    'update memos set contentFolded = null',
  ]) {
    await memberDatabase().prepare(statement).run()
  }
  expect(await findDiary()).toEqual([])
  const [counts] = await select('select (select count(*) from books) + (select count(*) from memos) as rows')
  const read = counts?.rows
  // Four titles and their memos in Cyrillic, in NFD and with Ä, and the many.
  const outdated = 4 + 4 * 3 + 1 + 20 + 1200
  expect(await fold(false)).toEqual({ read, outdated })
  expect(await fold()).toEqual({ read, outdated })
  // The authors keep the spelling of their first book.
  const [books, memos] = await columns()
  expect([books, memos]).toEqual(expected.slice(0, 2))
  expect(await findMismatches(memberDatabase(), memberSlot())).toEqual([])
  expect(await findDiary()).toHaveLength(1)
  expect(await fold()).toEqual({ read, outdated: 0 })
})

it('skips texts that a request changes at the same time, and rows of withdrawn members', async () => {
  const reader = await signUp()
  const { bookId } = await reader.createBook({ title: 'Ä', author: 'Ö' })
  const { memoId } = await reader.createMemo(bookId, { memoContent: 'ÄÄ' })
  const memberId = await memberIdOf(reader)
  const reset = () =>
    memberDatabase().batch([
      memberDatabase()
        .prepare('update books set titleFolded = null, authorFolded = null where bookId = ?')
        .bind(bookId),
      memberDatabase().prepare('update memos set contentFolded = null where memoId = ?').bind(memoId),
    ])
  await reset()
  const database = new Proxy(memberDatabase(), {
    get: (target, name) =>
      name === 'batch'
        ? async (statements: D1PreparedStatement[]) => {
            await reader.patch(`/memos/${memoId}`, { memoContent: 'ÖÖ' })
            return target.batch(statements)
          }
        : Reflect.get(target, name).bind(target),
  })
  await foldRows(database, true, () => {})
  const stored = () => select('select contentFolded from memos where memoId = ?', memoId)
  expect(await stored()).toEqual([{ contentFolded: 'öö' }])

  await reset()
  await memberDatabase().prepare('update members set withdrawnAt = 1 where memberId = ?').bind(memberId).run()
  await fold()
  expect(await stored()).toEqual([{ contentFolded: null }])
})
