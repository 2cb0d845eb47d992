import type { Context } from 'hono'
import { authenticated, canReadAll } from '../../callers/authenticated'
import { throttledByMember } from '../../callers/throttle'
import type { App } from '../../env'
import { Hono } from '../../http/hono'
import { sendJson, sendText } from '../../http/json-stream'
import { imageBase } from '../../http/public-base'
import { valid } from '../../input/validate'
import { DEADLINES } from '../../runtime/deadlines'
import { toCursor } from '../../values/cursor'
import { toInstant } from '../../values/fields'
import { toTable } from './csv-file'
import { MEMOS, SHELVES } from './kinds'
import { toMarkdown } from './markdown'
import type { LibraryExport } from './responses'
import { CsvQuery, ExportQuery } from './schema'
import { exportBooks, exportLibrary } from './store'

type Exported = Pick<Awaited<ReturnType<typeof exportBooks>>, 'part' | 'rateLimit'>

/** Sets the headers of a file: its name, the link to the next part, and the limits. */
const describeFile = (
  c: Context<App>,
  { part: { number, exportedAt, next }, rateLimit }: Exported,
  { path, name, extension, others = '' }: { path: string; name: string; extension: string; others?: string },
) => {
  const isWhole = number === 1 && !next
  const file = `${name}-${toInstant(exportedAt).slice(0, 10)}${isWhole ? '' : `-part-${number}`}.${extension}`
  c.header('Content-Disposition', `attachment; filename="${file}"`)
  const toPath = (part: number) => `${path}?part=${part}${others}`
  const links = [`<${toPath(1)}>; rel="first"`]
  if (next) links.push(`<${toPath(next.part)}&plan=${toCursor(next)}>; rel="next"`)
  c.header('Link', links.join(', '))
  for (const [header, value] of Object.entries(rateLimit)) c.header(header, value)
}

const canExport = authenticated('library:read', 'memos:read', 'profile:read')

export const exports = new Hono<App>()
  .get('/export', canExport, throttledByMember, valid('query', ExportQuery), async (c) => {
    const exported = await exportLibrary(c.var, c.req.valid('query'), imageBase(c))
    describeFile(c, exported, { path: '/export', name: 'reading-library', extension: 'json' })
    return sendJson<LibraryExport>(c, exported.file, DEADLINES.download)
  })
  .get('/export.csv', canReadAll, throttledByMember, valid('query', CsvQuery), async (c) => {
    const { for: target, ...query } = c.req.valid('query')
    const { books, ...file } = await exportBooks(c.var, query, SHELVES)
    const others = target && `&for=${target}`
    describeFile(c, file, { path: '/export.csv', name: 'reading-library', extension: 'csv', others })
    return sendText(c, 'text/csv', toTable(books, target === 'spreadsheet'), () => books.return())
  })
  .get('/export/memos.md', canReadAll, throttledByMember, valid('query', ExportQuery), async (c) => {
    const { books, ...file } = await exportBooks(c.var, c.req.valid('query'), MEMOS)
    describeFile(c, file, { path: '/export/memos.md', name: 'memos', extension: 'md' })
    return sendText(c, 'text/markdown', toMarkdown(books), () => books.return())
  })
