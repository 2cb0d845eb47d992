import { expect, it } from 'vitest'
import { MAX_REPORT_BYTES } from '../../../src/values/prices'
import { signUp } from '../../support/api'
import { select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { libraryFile } from '../../support/transfer/import-files'
import { importFile, startImport } from '../../support/transfer/imports'

const createImports = async (...bytes: number[]) => {
  const reader = await signUp()
  const memberId = await memberIdOf(reader)
  for (const [at, each] of bytes.entries()) {
    const { importId } = await importFile(reader, libraryFile({ title: `Book ${at}` }))
    await select('update imports set reportBytes = ? where memberId = ? and importId = ?', each, memberId, importId)
  }
  return { reader, memberId }
}

it('keeps the newest reports that fit into the budget of a member', async () => {
  const { reader, memberId } = await createImports(
    MAX_REPORT_BYTES / 4,
    MAX_REPORT_BYTES / 2,
    MAX_REPORT_BYTES / 2 - 30_000,
  )
  const { importId } = await importFile(reader, libraryFile({ title: 'Last' }))
  const kept = (await reader.get('/imports')).body.map((each: { importId: number }) => each.importId)
  expect(kept).toHaveLength(3)
  expect(kept[0]).toBe(importId)
  const rows = await select('select distinct importId from importRows where memberId = ?', memberId)
  expect(rows).toHaveLength(3)
})

it('counts what a report takes', async () => {
  const { reader, memberId } = await createImports()
  const cells = { title: ' ', subtitle: 'x'.repeat(500) }
  await importFile(reader, libraryFile({ title: 'A' }, ...Array.from({ length: 5 }, () => cells)))
  const [stored] = await select('select reportBytes from imports where memberId = ?', memberId)
  expect(stored?.reportBytes).toBeGreaterThan(1000)
})

it('ends an import whose own report would exceed it', async () => {
  const { reader, memberId } = await createImports()
  await select(
    `create trigger full after insert on imports begin update imports set reportBytes = ${MAX_REPORT_BYTES}; end`,
  )
  const { body } = await startImport(reader, libraryFile({ title: 'A' }))
  await expect
    .poll(async () => (await reader.get(`/imports/${body.importId}`)).body)
    .toMatchObject({
      status: 'FAILED',
      reason: expect.stringMatching(/^The report of the import has become too large/),
    })
  await select('drop trigger full')
  expect(await select('select * from books where memberId = ?', memberId)).toEqual([])
})
