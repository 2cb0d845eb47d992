// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase } from '../../support/database'
import { memberIdOf } from '../../support/images/images'

// A dry run reports what the import would report.

const title = (n: number) => `Book ${n}`.padEnd(100, '.')
// Three chunks of rows. Some add no book, or no text.
const FILE = [
  'Title,Author,My Rating,Exclusive Shelf,My Review,Date Added',
  ...Array.from({ length: 300 }, (_, n) =>
    n % 7 === 0
      ? ',Ana Ruiz,0,read,,2026/01/02'
      : `${title(n % 290)},,${n % 5},read,${n % 3 ? '' : 'Fine.'},2026/01/02`,
  ),
].join('\n')

const reportOf = async (reader: Reader, importId: number) => {
  const pages = [1, 2, 3].map((page) => reader.get(`/imports/${importId}/rows?page=${page}&size=100`))
  const rows: { line: number; outcome: string; code: string | null }[] = (await Promise.all(pages)).flatMap(
    ({ body }) => body.item,
  )
  return {
    counts: (await reader.get(`/imports/${importId}`)).body.counts,
    rows: rows.map(({ line, outcome, code }) => ({ line, outcome, code })),
  }
}

it.each([
  ['books', { MAX_BOOKS: '150' }],
  ['text', { MAX_MEMBER_TEXT_BYTES: '90000' }],
])('a dry run fails the rows that the quota of %s has no room for, also when it is continued', async (_, changed) => {
  const reader = await signUp()
  // A book that the file changes, and another one.
  for (const name of [title(1), 'Lamp']) await reader.createBook({ title: name })
  const start = async (query: string) =>
    (await reader.send('POST', `/imports${query}`, { raw: FILE, changed })).body.importId as number
  const dryRun = await start('?dryRun=true')
  const dry = await reportOf(reader, dryRun)
  expect(dry.rows.filter(({ code }) => code === 'quota').length).toBeGreaterThan(50)

  // As if its Worker had ended after the first two chunks.
  const memberId = await memberIdOf(reader)
  const first = dry.rows.slice(0, 240)
  const count = (outcome: string) => first.filter((row) => row.outcome === outcome).length
  await env.IMAGES.put(`imports/${memberId}/again`, FILE)
  const interrupt = `update imports set status = 'RUNNING', file = 'again', leaseEndsAt = 0, done = ?, created = ?,
    updated = ?, unchanged = ?, skipped = ?, failed = ? where memberId = ?`
  const counts = ['created', 'updated', 'unchanged', 'skipped', 'failed'].map(count)
  await memberDatabase().batch([
    memberDatabase()
      .prepare(interrupt)
      .bind(first.length, ...counts, memberId),
    memberDatabase().prepare('delete from importRows where memberId = ? and row > ?').bind(memberId, first.length),
  ])
  await reader.send('GET', `/imports/${dryRun}`, { changed })
  expect(await reportOf(reader, dryRun)).toEqual(dry)

  expect(await reportOf(reader, await start(''))).toEqual(dry)
})
