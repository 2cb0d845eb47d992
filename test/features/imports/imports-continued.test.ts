import { env } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { type Reader, signUp } from '../../support/api'
import { select } from '../../support/database'
import { holdClock } from '../../support/runtime/clock'
import { interruptImport, readingWith } from '../../support/transfer/imports'

const FILE = 'Title,Author\nThe Salt Archive,Mina Oh\nLow Tide,Ana Ruiz\n'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A reader of files that fails. */
const failingReader = () => {
  const read = vi.fn(() => Promise.reject(new Error('Worker exceeded memory limit.')))
  return { read, changed: readingWith(read) }
}
/** Gets an import, and lets the run that follows the response end. */
const poll = async (reader: Reader, importId: number, changed = {}) => {
  await reader.send('GET', `/imports/${importId}`, { changed })
  return (await reader.send('GET', `/imports/${importId}`, { changed })).body
}
const stateOf = async (memberId: number) =>
  (await select('select status, continuations, leaseEndsAt, file from imports where memberId = ?', memberId))[0]

it('is not continued at once after an error', async () => {
  const reader = await signUp()
  const { memberId, importId } = await interruptImport(reader, FILE)
  const { read, changed } = failingReader()
  holdClock()
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  await poll(reader, importId, changed)
  const calls = read.mock.calls.length
  expect(logged.mock.calls.join()).toContain('import: ')
  expect((await poll(reader, importId, changed)).status).toBe('RUNNING')
  expect(read).toHaveBeenCalledTimes(calls)
  const state = await stateOf(memberId)
  expect(state).toMatchObject({ status: 'RUNNING', continuations: 1 })
  expect(state?.leaseEndsAt).toBe(Date.now() + DEADLINES.importLease)
})

it('ends when it was continued ten times without committing rows', async () => {
  const reader = await signUp()
  const { memberId, importId } = await interruptImport(reader, FILE)
  await select('update imports set continuations = 9 where memberId = ?', memberId)
  const { read, changed } = failingReader()
  vi.spyOn(console, 'error').mockImplementation(() => {})
  expect((await poll(reader, importId, changed)).status).toBe('RUNNING')
  const calls = read.mock.calls.length
  await select('update imports set leaseEndsAt = 0 where memberId = ?', memberId)
  expect(await poll(reader, importId, changed)).toMatchObject({
    status: 'FAILED',
    reason: expect.stringMatching(/^The import failed after 0 of 2 rows.* Send the file again/),
  })
  expect(read).toHaveBeenCalledTimes(calls)
  expect((await stateOf(memberId))?.file).toBeNull()
  expect((await env.IMAGES.list({ prefix: `imports/${memberId}/` })).objects).toEqual([])
})

it('may fail as often again after rows were committed', async () => {
  const reader = await signUp()
  const { memberId, importId } = await interruptImport(reader, FILE)
  await select('update imports set continuations = 9 where memberId = ?', memberId)
  expect((await poll(reader, importId, {})).status).toBe('DONE')
  expect(await stateOf(memberId)).toMatchObject({ continuations: 0 })
})

it.each([
  ['fewer', FILE.replace(/Low Tide.*/, '')],
  ['more', `${FILE}Lamp,Mina Oh\n`],
])('fails if the reader of files now finds %s rows', async (_, stored) => {
  const reader = await signUp()
  const { memberId, importId } = await interruptImport(reader, FILE, stored)
  expect(await poll(reader, importId, {})).toMatchObject({
    status: 'FAILED',
    reason: expect.stringMatching(/^The service was updated during the import.* Send it again/),
    counts: { created: 0 },
  })
  expect((await stateOf(memberId))?.file).toBeNull()
})
