import { expect, it } from 'vitest'
import { confirmTurn, takeTurn } from '../../src/members/turns'

const takeTurns = (count: number) => {
  const started: number[] = []
  let running = 0
  let most = 0
  const turns = Array.from({ length: count }, (_, n) =>
    takeTurn(async (pause) => {
      started.push(n)
      most = Math.max(most, ++running)
      await pause()
      running--
      return n
    }),
  )
  return { started, turns, most: () => most }
}

it('runs one hash at a time, first come first served', async () => {
  const { started, turns, most } = takeTurns(5)
  expect(await Promise.all(turns)).toEqual([0, 1, 2, 3, 4])
  expect(started).toEqual([0, 1, 2, 3, 4])
  expect(most()).toBe(1)
})

it('continues with the next after a failure', async () => {
  const failed = takeTurn(() => Promise.reject(new Error('No hash today')))
  const next = takeTurn(async () => 'done')
  await expect(failed).rejects.toThrow('No hash today')
  expect(await next).toBe('done')
})

it('rejects more than 64 waiting with Retry-After', async () => {
  const { turns } = takeTurns(64)
  const refused = { code: 'TOO_MANY_REQUESTS', details: { headers: { 'Retry-After': '5' } } }
  expect(() => confirmTurn()).toThrow(expect.objectContaining(refused))
  await expect(takeTurn(async () => 'done')).rejects.toMatchObject(refused)
  expect(await Promise.all(turns)).toHaveLength(64)
  expect(() => confirmTurn()).not.toThrow()
})

it('gives up on one that hangs after two seconds', async () => {
  void takeTurn(() => new Promise(() => {}))
  expect(await takeTurn(async () => 'done')).toBe('done')
})
