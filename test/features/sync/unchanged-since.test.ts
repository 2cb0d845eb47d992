import { beforeEach, describe, expect, it } from 'vitest'
import { toCursor } from '../../../src/values/cursor'
import { type Reader, readerWith, signUp } from '../../support/api'
import { measure, memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { createCopy } from '../../support/sync/copy'
import { insertAccessToken } from '../../support/tokens'

let reader: Reader
let memberId: number
let bookId: number
let memoId: number
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
  bookId = (await reader.createBook({ bookStatus: 'ING' })).bookId
  memoId = (await reader.createMemo(bookId)).memoId
})

/** The cursor of a client that has everything. */
const pull = async ({ get } = reader) => {
  const copy = createCopy(get)
  await copy.pull()
  return copy.cursor() ?? ''
}
const remove = (cursor: string, id = bookId, by = reader) =>
  by.send('DELETE', `/books/${id}`, { headers: { 'If-Unchanged-Since': cursor } })
const isLeft = async () => (await reader.get(`/books/${bookId}?memoAuthority=ALL`)).status === 200
const tag = (tags: string[]) => reader.send('PUT', `/books/${bookId}/tags`, { body: { tags } })

const expectRefused = async (cursor: string) => {
  const answer = await remove(cursor)
  expect(answer).toMatchObject({ status: 412, body: { status: 412, message: expect.stringContaining('cursor') } })
  expect(answer.headers.get('X-Error-Code')).toBe('PRECONDITION_FAILED')
  expect(await isLeft()).toBe(true)
}

describe('If-Unchanged-Since', () => {
  it('deletes a book that has not changed, whatever else has', async () => {
    await tag(['Sea'])
    const other = await reader.createBook({ bookStatus: 'DONE' })
    const cursor = await pull()
    await reader.createMemo(other.bookId)
    await reader.patch(`/books/${other.bookId}`, { star: 3 })
    await reader.post(`/books/${other.bookId}/readings`, { finishedAt: '2020' })
    await reader.patch('/tags', { from: 'Sea', to: 'Ocean' })
    expect((await remove(cursor)).status).toBe(204)
    expect(await isLeft()).toBe(false)
    expect((await remove(cursor)).status).toBe(404)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['a field', () => reader.patch(`/books/${bookId}`, { author: 'Mina Oh' })],
    ['the edition', () => reader.patch(`/books/${bookId}/edition`, { series: 'Cosmos' })],
    ['a tag', () => tag(['Sea'])],
    ['a tag less', () => tag([])],
    ['progress', () => reader.post(`/books/${bookId}/progress`, { page: 9 })],
    ['a new memo', () => reader.createMemo(bookId)],
    ['an edited memo', () => reader.patch(`/memos/${memoId}`, { memoContent: 'edited' })],
    ['a note on the current reading', () => reader.patch(`/readings/${bookId}`, { note: 'Again' })],
    ['a past reading', () => reader.post(`/books/${bookId}/readings`, { finishedAt: '2020' })],
    [
      'what a merge moved to it',
      async () => {
        const { bookId: from } = await reader.createBook()
        await reader.createMemo(from)
        await reader.post(`/books/${bookId}/merge`, { from })
      },
    ],
  ])('keeps a book that has %s', async (_, change) => {
    await tag(['Lamp'])
    const cursor = await pull()
    await change()
    await expectRefused(cursor)
    expect((await remove(await pull())).status).toBe(204)
  })

  it('does not count what was deleted from the book', async () => {
    await reader.post(`/books/${bookId}/readings`, { finishedAt: '2020' })
    const [reading] = await select('select readingId from readings where bookId = ?', bookId)
    const cursor = await pull()
    await reader.delete(`/memos/${memoId}`)
    await reader.delete(`/readings/${reading?.readingId}`)
    expect((await remove(cursor)).status).toBe(204)
  })

  it('refuses a cursor of the first sync, of another member, and of another log', async () => {
    const first = createCopy(reader.get)
    await first.pullPage(1)
    await expectRefused(first.cursor() ?? '')
    const stranger = await signUp()
    await stranger.createBook()
    await expectRefused(await pull(stranger))
    const cursor = await pull()
    await select('delete from changes where memberId = ?', memberId)
    await expectRefused(cursor)
    await pull()
    await expectRefused(cursor)
  })

  it('refuses a cursor whose next entry was trimmed, but not the newest one', async () => {
    const early = await pull()
    const behind = createCopy(reader.get)
    await behind.pull()
    for (let n = 0; n < 3; n++) await reader.createBook()
    // It proves the newest entry, but has only the first of three.
    await behind.pullPage(1)
    const late = await pull()
    const trim = (left: number) =>
      select(
        'delete from changes where memberId = ?1 and seq <= (select max(seq) from changes where memberId = ?1) - ?2',
        memberId,
        left,
      )
    await trim(1)
    await expectRefused(early)
    await expectRefused(behind.cursor() ?? '')
    expect((await remove(late)).status).toBe(204)
  })

  it('reads 6,000 entries three times at most, and refuses a cursor before them', async () => {
    const other = await reader.createBook()
    const cursor = await pull()
    const [newest] = await select('select max(seq) as seq from changes where memberId = ?', memberId)
    const grow = (from: number, to: number) =>
      select(
        `with recursive n(i) as (select ?2 union all select i + 1 from n where i < ?3)
        insert into changes select ?1, i, 1, ?4, i from n`,
        ...[memberId, Number(newest?.seq) + from, Number(newest?.seq) + to, other.bookId],
      )
    await grow(1, 6001)
    const refused = await measure(() => expectRefused(cursor))
    expect(refused.read).toBeLessThan(60)
    await select('delete from changes where memberId = ? and seq = ?', memberId, Number(newest?.seq) + 6001)
    const cost = await measure(() => remove(cursor))
    expect(cost.calls).toBe(1)
    expect(cost.read).toBeLessThan(18_200)
    expect(await isLeft()).toBe(false)
  })

  it('reads the memos of the book once, and as much of another member as of nothing', async () => {
    const [one, other] = [await reader.createBook(), await reader.createBook()]
    for (let n = 0; n < 10; n++) for (const book of [one, other]) await reader.createMemo(book.bookId)
    const cursor = await pull()
    for (let n = 0; n < 30; n++) await reader.createMemo(bookId)
    const without = await measure(() => reader.delete(`/books/${one.bookId}`))
    const guarded = await measure(() => remove(cursor, other.bookId))
    // Three times the ten memos; the entries of the other 30, each looked up among them; and the entries of the cursor.
    expect(guarded.read - without.read).toBeLessThan(3 * (10 + 2 * 31) + 10)
    expect(guarded.calls).toBe(1)
    const stranger = await signUp()
    const denied = await measure(async () => expect((await remove(cursor, bookId, stranger)).status).toBe(404))
    const absent = await measure(async () => expect((await remove(cursor, 9_999_999, stranger)).status).toBe(404))
    expect(denied).toEqual(absent)
  })

  it.each(['', 'x', '*', '"1"', toCursor({ c: 2, t: 1, p: '0'.repeat(15) })])(
    'is a violation if it is not a cursor: %j',
    async (cursor) => {
      expect(await remove(cursor)).toMatchObject({
        status: 400,
        body: { violationErrors: [{ propertyPath: 'If-Unchanged-Since', rejectedValue: cursor }] },
      })
      expect(await isLeft()).toBe(true)
    },
  )

  it('needs no scope to read', async () => {
    const cursor = await pull()
    const scopes = ['library:write', 'memos:write'] as const
    const script = readerWith('', await insertAccessToken(memberDatabase(), memberId, [...scopes], memberSlot()))
    await reader.createMemo(bookId)
    expect((await remove(cursor, bookId, script)).status).toBe(412)
    expect((await remove(await pull(), bookId, script)).status).toBe(204)
  })
})
