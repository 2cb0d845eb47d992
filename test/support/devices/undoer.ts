import { expect } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { signUp } from '../api'
import { memberDatabase, select } from '../database'
import { memberIdOf } from '../images/images'
import { UNLIMITED } from '../rate-limits'
import { libraryFile } from '../transfer/import-files'
import { importFile } from '../transfer/imports'

export const LONG_AGO = '2020-01-01T00:00:00Z'
export const NOTHING = {
  imports: 0,
  books: 0,
  memos: 0,
  progress: 0,
  documents: 0,
  minutes: 0,
  kept: [],
  hasMore: false,
}
const DEVICE = ['intake:read', 'intake:write']

export const book = (title: string, more: object = {}) => ({ title, author: 'Ana Ruiz', bookStatus: 'YET', ...more })
export const memo = (memoContent: string) => ({ memoContent, createdAt: '2026-01-01T00:00:00' })

type Push = { at: string; page: number; pageBefore?: number; begins?: boolean; token?: string }

/** A member with a device, and what it did. */
export const createUndoer = async () => {
  const reader = await signUp()
  const memberId = await memberIdOf(reader)
  const createToken = async (scopes = DEVICE, more: object = {}): Promise<{ tokenId: string; token: string }> =>
    (await reader.post('/tokens', { name: 'Kobo', scopes, ...more })).body
  const { tokenId } = await createToken()
  return {
    ...{ reader, memberId, tokenId, createToken },
    /** Imports a file as a device does. */
    sendFile: async (books: object[], { token = tokenId, query = '' } = {}) => {
      const { status, importId } = await importFile(reader, libraryFile(...books), query)
      expect(status).toBe('DONE')
      await select('update imports set tokenId = ? where memberId = ? and importId = ?', token, memberId, importId)
      return importId
    },
    /** Writes what a push of progress does. */
    push: async (bookId: number, { at, page, pageBefore, begins, token = tokenId }: Push) => {
      await select(
        `insert into progress (memberId, bookId, at, page, kind, total, tokenId, pageBefore, begins)
        select ?1, ?2, ?3, ?4, 'PROGRESS', 1 + (select count(*) from progress where bookId = ?2), ?5, ?6, ?7`,
        ...[memberId, bookId, Date.parse(at), page, token, pageBefore ?? null, begins ? 1 : null],
      )
      await select(
        `update books set currentPage = (select page from progress where bookId = ?1 order by at desc limit 1) where bookId = ?1`,
        bookId,
      )
      if (begins) await select(`update books set bookStatus = 'ING' where bookId = ?`, bookId)
    },
    changes: async (query = '', token = tokenId) => (await reader.get(`/tokens/${token}/changes${query}`)).body,
    undo: async (since = LONG_AGO, token = tokenId) => {
      const options = { body: { since }, changed: UNLIMITED }
      const { status, body } = await reader.send('POST', `/tokens/${token}/undo`, options)
      expect(status).toBe(200)
      expect(await findMismatches(memberDatabase())).toEqual([])
      return body
    },
    trash: async () => (await reader.get('/trash')).body.item,
    exported: async () => (await reader.get('/export')).body.books,
    eventsOf: async (bookId: number): Promise<number[]> =>
      (await reader.get(`/books/${bookId}/progress`)).body.item.map(({ page }: { page: number }) => page),
  }
}
export type Undoer = Awaited<ReturnType<typeof createUndoer>>
