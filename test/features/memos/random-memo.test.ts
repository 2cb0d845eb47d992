import { expect, it } from 'vitest'
import { signUp } from '../../support/api'

const MEMO = { memoBookPage: 12, memoContent: 'A thought', memoType: 'SUMMARY' }

it('answers an empty array if there is no memo, and one memo at random otherwise', async () => {
  const reader = await signUp()
  expect(await reader.get('/memos/random')).toMatchObject({ status: 200, body: [] })
  const { bookId } = await reader.createBook()
  const written: number[] = []
  for (let n = 0; n < 12; n++) written.push((await reader.createMemo(bookId, MEMO)).memoId)
  // From the middle, too: positions close up.
  const deleted = [0, 5, 11]
  for (const index of deleted) await reader.delete(`/memos/${written[index]}`)
  const left = written.filter((_, index) => !deleted.includes(index))

  const draws = new Map(left.map((memoId) => [memoId, 0]))
  const total = 180
  for (let n = 0; n < total; n++) {
    const [memo, ...others] = (await reader.get('/memos/random')).body
    expect(others).toEqual([])
    expect(memo).toEqual({ ...MEMO, memoId: expect.any(Number) })
    draws.set(memo.memoId, (draws.get(memo.memoId) ?? Number.NaN) + 1)
  }
  const expected = total / left.length
  const chiSquare = [...draws.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  // Eight degrees of freedom: uniform draws exceed this once in a million runs.
  expect(chiSquare).toBeLessThan(42.7)
})
