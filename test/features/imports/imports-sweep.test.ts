import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import { connect } from '../../../src/db/client'
import { configure } from '../../../src/env'
import { sweep } from '../../../src/sweep'
import { sweepImports } from '../../../src/transfer/imports/sweep-imports'
import { signUp } from '../../support/api'
import { memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { interruptImport, readingWith } from '../../support/transfer/imports'

const FILE = 'Title,Author\nThe Salt Archive,Mina Oh\nLow Tide,Ana Ruiz\n'
const DAY_MS = 86_400_000

const interrupt = async (stored = FILE) => interruptImport(await signUp(), FILE, stored)
const statusOf = async ({ memberId, importId }: { memberId: number; importId: number }) =>
  (await select('select status from imports where memberId = ? and importId = ?', memberId, importId))[0]?.status

/** Adds imports of one row, from `importId` on. */
const insertMany = async (count: number, importId: number, values: { status: string; file: string | null }) => {
  const memberId = await memberIdOf(await signUp())
  await select(
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < ?2 - 1)
    insert into imports (memberId, importId, status, isDryRun, merge, format, encoding, options, file, total, leaseEndsAt)
    select ?1, ?3 + i, ?4, 0, 'fill', 'csv', 'utf-8', '{}', ?5, 1, ?6 from n`,
    ...[memberId, count, importId, values.status, values.file, Date.now() + DAY_MS],
  )
  return memberId
}

it('continues the imports of several members', async () => {
  const interrupted = [await interrupt(), await interrupt(), await interrupt()]
  await sweep(env)
  expect(await Promise.all(interrupted.map(statusOf))).toEqual(['DONE', 'DONE', 'DONE'])
})

it('passes over imports that others work on', async () => {
  const memberId = await insertMany(20, Date.now() - 60_000, { status: 'RUNNING', file: 'a file' })
  const interrupted = await interrupt()
  await sweep(env)
  expect(await statusOf(interrupted)).toBe('DONE')
  expect(await select('select distinct status, continuations from imports where memberId = ?', memberId)).toEqual([
    { status: 'RUNNING', continuations: 0 },
  ])
})

it('continues others after one that fails, which then comes last', async () => {
  const failing = await interrupt('Title,Author\nUnreadable,Mina Oh\n')
  const others = [await interrupt(), await interrupt()]
  const asked: boolean[] = []
  const read = async (...[file, options]: Parameters<typeof env.READER.read>) => {
    const fails = new TextDecoder().decode(file).includes('Unreadable')
    asked.push(fails)
    if (fails) throw new Error('Worker exceeded memory limit.')
    return env.READER.read(file, options)
  }
  const failingEnv = { ...env, ...readingWith(read) }
  vi.spyOn(console, 'error').mockImplementation(() => {})
  await sweep(failingEnv)
  expect([await statusOf(failing), ...(await Promise.all(others.map(statusOf)))]).toEqual(['RUNNING', 'DONE', 'DONE'])

  const later = await interrupt()
  await select('update imports set leaseEndsAt = 2 where memberId = ?', failing.memberId)
  asked.length = 0
  await sweep(failingEnv)
  vi.restoreAllMocks()
  expect(asked.slice(0, 2)).toEqual([false, true])
  expect(await statusOf(later)).toBe('DONE')
})

it('leaves an import to the next sweep if too few statements are left to load the library', async () => {
  const { memberId, importId } = await interrupt()
  const db = connect(memberDatabase(), { slot: memberSlot() })
  const budget = { left: 18 }
  const context = { db, bucket: env.IMAGES, reader: env.READER, config: configure(env), budget }
  const each = { memberId, importId, file: 'again', total: 2, isRunning: 1, books: 20_000 }
  await sweepImports(context, [each], Date.now())
  expect(budget.left).toBe(18)
  expect(await select('select continuations from imports where memberId = ?', memberId)).toEqual([{ continuations: 0 }])
  budget.left = 100
  await sweepImports(context, [each], Date.now())
  expect(await statusOf({ memberId, importId })).toBe('DONE')
  expect(budget.left).toBeGreaterThan(50)
  expect(budget.left).toBeLessThan(94)
})

it('leaves the import of a blocked member', async () => {
  const { memberId, importId } = await interrupt()
  await select('update members set blockedAt = 1 where memberId = ?', memberId)
  await sweep(env)
  expect(await statusOf({ memberId, importId })).toBe('RUNNING')
  await select('update members set blockedAt = null where memberId = ?', memberId)
  await sweep(env)
  expect(await statusOf({ memberId, importId })).toBe('DONE')
})

it('deletes the reports of many members at once', async () => {
  const memberId = await insertMany(300, Date.now() - 31 * DAY_MS, { status: 'DONE', file: null })
  await sweep(env)
  expect(await select('select * from imports where memberId = ?', memberId)).toEqual([])
})
