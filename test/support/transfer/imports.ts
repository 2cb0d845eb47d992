import { env, exports } from 'cloudflare:workers'
import { expect, vi } from 'vitest'
import type { Bindings } from '../../../src/env'
import type { ReaderBinding } from '../../../src/transfer/entries/reader-protocol'
import type { Import, ImportRow } from '../../../src/transfer/imports/responses'
import { BASE, type Reader } from '../api'
import { select } from '../database'
import { memberIdOf } from '../images/images'
import { eventually } from '../runtime/clock'

/** Starts an import of a file. */
export const startImport = (reader: Reader, raw: BodyInit, query = '', changed: Partial<Bindings> = {}) =>
  reader.send('POST', `/imports${query}`, { raw, ...(Object.keys(changed).length > 0 && { changed }) })

/** A form with a file to import. Other parts are JSON, or text as it is. */
export const importForm = (file: string, parts: Record<string, object | string>) => {
  const form = new FormData()
  form.append('file', new Blob([file]), 'books.csv')
  for (const [name, part] of Object.entries(parts)) {
    form.append(name, typeof part === 'string' ? part : JSON.stringify(part))
  }
  return form
}

/** Returns an import when it has ended. */
export const finishImport = (reader: Reader, importId: number): Promise<Import> => {
  const load = async () => {
    const { body } = await reader.get(`/imports/${importId}`)
    if (body.status === 'RUNNING') throw new Error('The import still runs')
    return body
  }
  return eventually(load)
}

/** Imports a file, and returns the ended import. */
export const importFile = async (reader: Reader, file: BodyInit, query = '') => {
  const started = await startImport(reader, file, query)
  expect(started).toMatchObject({ status: 202 })
  return finishImport(reader, started.body.importId)
}

/** All counts of an import, by those that are not 0. */
export const countsOf = (changes: object) => ({
  ...{ created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 },
  ...changes,
})

/** A Worker that reads files with this function. */
export const readingWith = (read: unknown) => ({ READER: { read } as ReaderBinding })

/** Makes an import look as if its Worker had ended before the first row. `stored`: what is then in the bucket. */
export const interruptImport = async (reader: Reader, file: string, stored = file, query = '') => {
  const memberId = await memberIdOf(reader)
  const { importId } = await importFile(reader, file, query)
  await env.IMAGES.put(`imports/${memberId}/again`, stored)
  await select(
    `update imports set status = 'RUNNING', file = 'again', leaseEndsAt = 0, done = 0, created = 0 where memberId = ?`,
    memberId,
  )
  await select('delete from importRows where memberId = ?', memberId)
  return { memberId, importId }
}

/** The report of an import of at most a hundred rows. */
export const rowsOf = async (reader: Reader, importId: number, outcome = 'ALL'): Promise<ImportRow[]> =>
  (await reader.get(`/imports/${importId}/rows?page=1&size=100&outcome=${outcome}`)).body.item

/** The response to a GET, whose body is not read yet. */
export const download = (reader: Reader, path: string) =>
  exports.default.fetch(BASE + path, { headers: { Authorization: `Bearer ${reader.token}` } })

/** Up to a hundred books, oldest first. */
export const booksOf = async (reader: Reader) => (await reader.get('/books?sort=created&size=100')).body.item

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
