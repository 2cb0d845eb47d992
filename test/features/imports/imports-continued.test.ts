import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { connect } from '../../../src/db/client'
import type { Bindings } from '../../../src/env'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { loadLibrary } from '../../../src/transfer/imports/plan/existing'
import type { RunContext } from '../../../src/transfer/imports/run-context'
import type { StoredImport } from '../../../src/transfer/imports/store'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { holdClock } from '../../support/runtime/clock'
import { libraryFile } from '../../support/transfer/import-files'
import { finishImport, interruptImport, readingWith, startImport } from '../../support/transfer/imports'
import { wrapEnv } from '../../support/wrap-database'

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

describe('a book with more memos than a batch writes', { tags: ['slow'] }, () => {
  const MEMOS = 3000
  const memos = Array.from({ length: MEMOS }, (_, n) => ({ memoContent: `${n}`, memoAuthority: 'PUBLIC' }))

  /** Starts an import whose Worker ends after the first memos. */
  const interruptMemos = async (query = '') => {
    const reader = await signUp()
    const memberId = await memberIdOf(reader)
    const memosOf = () =>
      select('select memoContent, memoAuthority from memos where memberId = ? order by memoId', memberId)
    const ending = wrapEnv<Bindings>(() => async (call) => {
      if ((await memosOf()).length > 0) throw new Error('The Worker has ended.')
      return call()
    })
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { body } = await startImport(reader, libraryFile({ title: 'Long', memos }), query, ending(env))
    const { importId } = body
    await expect.poll(() => logged.mock.calls.join()).toContain('The Worker has ended.')
    expect(await reader.get(`/imports/${importId}`)).toMatchObject({
      body: { status: 'RUNNING', counts: { created: 1 } },
    })
    const written = (await memosOf()).length
    expect(written).toBeGreaterThan(0)
    expect(written).toBeLessThan(MEMOS)
    const resume = async () => {
      await select('update imports set leaseEndsAt = 0 where memberId = ?', memberId)
      expect(await finishImport(reader, importId)).toMatchObject({ status: 'DONE', counts: { created: 1 } })
      const stored = await memosOf()
      expect(stored.map(({ memoContent }) => memoContent)).toEqual(memos.map(({ memoContent }) => memoContent))
      return [...new Set(stored.map(({ memoAuthority }) => memoAuthority))]
    }
    const undo = async () => (await reader.delete(`/imports/${importId}`)).body
    return { reader, resume, undo }
  }

  it.each([
    ['', 'PRIVATE'],
    ['?keepVisibility=true', 'PUBLIC'],
  ])(
    'gets the others when the import is continued, with %j as %s memos, and an undo deletes all',
    async (query, authority) => {
      const { resume, undo } = await interruptMemos(query)
      expect(await resume()).toEqual([authority])
      expect(await undo()).toMatchObject({ removed: 1, kept: [] })
    },
  )

  it('is kept by an undo if it was changed before the import was continued', async () => {
    const { reader, resume, undo } = await interruptMemos()
    const { bookId } = (await reader.get('/books')).body.item[0]
    await reader.patch(`/books/${bookId}`, { publisher: 'Quay House' })
    await resume()
    expect(await undo()).toMatchObject({ removed: 0, kept: [{ bookId, left: ['all'] }] })
  })
})

it('loads no library when its time or its statements are used up', async () => {
  const reader = await signUp()
  const { memberId } = await interruptImport(reader, FILE)
  const stored = { memberId, importId: 1, done: 0 } as StoredImport
  const load = (deadline: number, left: number) => {
    const context = { db: connect(memberDatabase(), { slot: memberSlot() }), budget: { left } }
    return loadLibrary(context as RunContext, stored, [], deadline)
  }
  expect(await load(Date.now() - 1, 100)).toBeUndefined()
  expect(await load(Date.now() + 60_000, 2)).toBeUndefined()
  expect(await load(Date.now() + 60_000, 100)).toMatchObject({ tagKeys: new Set() })
})
