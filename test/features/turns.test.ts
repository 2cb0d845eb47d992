import { expect, it } from 'vitest'
import { confirmTurn, takeTurn } from '../../src/members/turns'

const inOrder = (count: number) => {
  const begun: number[] = []
  let atOnce = 0
  let most = 0
  const turns = Array.from({ length: count }, (_, n) =>
    takeTurn(async (pause) => {
      begun.push(n)
      most = Math.max(most, ++atOnce)
      await pause()
      atOnce--
      return n
    }),
  )
  return { begun, turns, most: () => most }
}

it('turns are taken one at a time, in the order in which they were asked for', async () => {
  const { begun, turns, most } = inOrder(5)
  expect(await Promise.all(turns)).toEqual([0, 1, 2, 3, 4])
  expect(begun).toEqual([0, 1, 2, 3, 4])
  expect(most()).toBe(1)
})

it('what fails gives its turn on', async () => {
  const failed = takeTurn(() => Promise.reject(new Error('No hash today')))
  const next = takeTurn(async () => 'done')
  await expect(failed).rejects.toThrow('No hash today')
  expect(await next).toBe('done')
})

it('more than sixty-four are refused at once, and told when to come again', async () => {
  const { turns } = inOrder(64)
  const refused = { code: 'TOO_MANY_REQUESTS', details: { headers: { 'Retry-After': '5' } } }
  expect(() => confirmTurn()).toThrow(expect.objectContaining(refused))
  await expect(takeTurn(async () => 'done')).rejects.toMatchObject(refused)
  expect(await Promise.all(turns)).toHaveLength(64)
  expect(() => confirmTurn()).not.toThrow()
})

it('whoever stops in the middle holds the others up for two seconds, and no longer', async () => {
  void takeTurn(() => new Promise(() => {}))
  expect(await takeTurn(async () => 'done')).toBe('done')
})
