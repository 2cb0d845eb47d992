import { type Context, Hono } from 'hono'
import type { App } from '../env'
import { authenticated } from '../http/auth'
import { DOWNLOAD_TIMEOUT_MS, sendJson, sendText } from '../http/json-stream'
import { toLinks } from '../http/send-page'
import { throttledByMember } from '../http/throttle'
import { valid } from '../http/validate'
import { imageBase } from '../images/address'
import { toKey } from '../images/bucket'
import { toInstant } from '../schema/values'
import { toTable } from './csv'
import { toMarkdown } from './markdown'
import type { LibraryExport } from './responses'
import { CsvQuery, ExportQuery } from './schema'
import { type Export, exportLibrary, exportMemos, exportShelves } from './store'

/** Sets the headers of a file: its name, the links to the other parts, and the limits. */
const describeFile = (
  c: Context<App>,
  path: string,
  { part, rateLimit }: Pick<Export, 'part' | 'rateLimit'>,
  [name, extension]: [string, string],
  others: Record<string, string> = {},
) => {
  const { number, parts, exportedAt, plan } = part
  const day = toInstant(exportedAt).slice(0, 10)
  const file = `${name}-${day}${parts > 1 ? `-part-${number}-of-${parts}` : ''}.${extension}`
  c.header('Content-Disposition', `attachment; filename="${file}"`)
  c.header('Link', toLinks(path, { page: number, ...others, plan }, parts, 'part'))
  for (const [header, value] of Object.entries(rateLimit)) c.header(header, value)
}

export const exports = new Hono<App>()
  .get(
    '/export',
    authenticated('library:read', 'memos:read', 'profile:read'),
    throttledByMember,
    valid('query', ExportQuery),
    async (c) => {
      const base = imageBase(c)
      const { db, caller, config } = c.var
      const toUrl = (memberId: number, name: string) => `${base}/${toKey(memberId, name)}`
      const { part, rateLimit, ...library } = await exportLibrary(db, caller, config, c.req.valid('query'), toUrl)
      describeFile(c, '/export', { part, rateLimit }, ['reading-library', 'json'])
      const { number, parts, exportedAt } = part
      const head = { format: 'reading-library', version: 1, exportedAt: toInstant(exportedAt), part: number, parts }
      return sendJson<LibraryExport>(c, { ...head, ...library }, DOWNLOAD_TIMEOUT_MS)
    },
  )
  .get('/export.csv', authenticated('library:read'), throttledByMember, valid('query', CsvQuery), async (c) => {
    const { db, caller, config } = c.var
    const { for: target, ...query } = c.req.valid('query')
    const { books, ...file } = await exportShelves(db, caller, config, query)
    describeFile(c, '/export.csv', file, ['reading-library', 'csv'], target && { for: target })
    return sendText(c, 'text/csv', toTable(books, target === 'spreadsheet'), () => books.return())
  })
  .get(
    '/export/memos.md',
    authenticated('library:read', 'memos:read'),
    throttledByMember,
    valid('query', ExportQuery),
    async (c) => {
      const { db, caller, config } = c.var
      const { books, ...file } = await exportMemos(db, caller, config, c.req.valid('query'))
      describeFile(c, '/export/memos.md', file, ['memos', 'md'])
      return sendText(c, 'text/markdown', toMarkdown(books), () => books.return())
    },
  )
