import { env } from 'cloudflare:workers'
import { expect, vi } from 'vitest'
import type { Import, ImportRow } from '../../../src/transfer/imports/responses'
import { type Reader, send } from '../api'
import { select } from '../database'
import { memberIdOf } from '../images/images'

/** Starts an import of a file. */
export const startImport = (reader: Reader, file: BodyInit, query = '') =>
  send('POST', `/imports${query}`, { raw: file, headers: { Authorization: `Bearer ${reader.token}` } })

/** Imports a file, and returns the ended import. */
export const importFile = async (reader: Reader, file: BodyInit, query = ''): Promise<Import> => {
  const started = await startImport(reader, file, query)
  expect(started).toMatchObject({ status: 202 })
  const load = async () => (await reader.get(`/imports/${started.body.importId}`)).body as Import
  return vi.waitUntil(
    async () => {
      const current = await load()
      return current.status !== 'RUNNING' && current
    },
    { timeout: 20_000, interval: 5 },
  ) as Promise<Import>
}

/** Makes an import look as if its Worker had ended before the first row. `stored`: what is then in the bucket. */
export const interruptImport = async (reader: Reader, file: string, stored = file) => {
  const memberId = await memberIdOf(reader)
  const { importId } = await importFile(reader, file)
  await env.IMAGES.put(`imports/${memberId}/again`, stored)
  await select(
    `update imports set status = 'RUNNING', file = 'again', leaseEndsAt = 0, done = 0, created = 0 where memberId = ?`,
    memberId,
  )
  await select('delete from importRows where memberId = ?', memberId)
  return { memberId, importId }
}

/** The report of an import of at most a hundred rows. */
export const rowsOf = async (reader: Reader, importId: number): Promise<ImportRow[]> =>
  (await reader.get(`/imports/${importId}/rows?page=1&size=100&outcome=ALL`)).body.item

/** D1 refuses larger parameters, local D1 does not. */
const MAX_PARAMETER_BYTES = 2_000_000
/** Expects that no database call of `work` has a parameter that D1 would refuse. */
export const expectSmallParameters = async <Result>(work: () => Promise<Result>) => {
  const bind = vi.spyOn(Object.getPrototypeOf(env.DB.prepare('select 1')), 'bind')
  const result = await work()
  const sizes = bind.mock.calls.flat().map((value) => new TextEncoder().encode(String(value)).length)
  bind.mockRestore()
  expect(sizes.length).toBeGreaterThan(0)
  expect(Math.max(...sizes)).toBeLessThan(MAX_PARAMETER_BYTES)
  return result
}
