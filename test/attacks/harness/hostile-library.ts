// A library whose texts take the most work for their size, and all that reads them.
import { setTimeout } from 'node:timers/promises'
import { LINK_KINDS } from '../../../src/values/contract'
import { SUFFIXES } from '../../../src/values/link'
import { addressOf, operations } from '../../support/document/operations'
import { repeatTo } from '../../support/inputs/hostile-texts'
import type { Request } from './client'
import { insertMember, jsonRequest, registerBook, writeMemo } from './members'
import type { Service } from './service'

const [BOOKS, MEMOS, ROWS] = [12, 2, 20]
const STATUSES = ['YET', 'ING', 'DONE']
const YEAR = 2025

/** Each text has `factor` quarters of its limit. */
export const fillHostileLibrary = async (service: Service, part: string, factor: number) => {
  const member = await insertMember(service)
  const { token } = member
  const textOf = (limit: number, n = 0) => `${repeatTo(part, (limit / 4) * factor - 3)}${n}`
  const send = async (method: string, path: string, body: unknown) => {
    const { status, body: answer } = await service.request(jsonRequest(method, path, body, { token }))
    if (status >= 300) throw new Error(`${method} ${path}: ${status}`)
    return answer as Record<string, string>
  }
  const tags = Array.from({ length: 8 }, (_, n) => textOf(100, n))
  const books: number[] = []
  for (let n = 0; n < BOOKS; n++) {
    const [title, author, publisher] = [textOf(500, n), textOf(500, n % 3), textOf(500)]
    const dates = { readStartDate: `${YEAR}-01-01T00:00:00`, readEndDate: `${YEAR}-03-1${n % 10}T00:00:00` }
    const status = { bookStatus: STATUSES[n % 3], itemPage: 300, star: 4, ...(n % 3 === 2 && dates) }
    const bookId = await registerBook(service, member, { title, author, publisher, ...status })
    await send('PATCH', `/books/${bookId}/edition`, { subtitle: textOf(500), series: textOf(500) })
    await send('PUT', `/books/${bookId}/tags`, { tags })
    if (n % 3 > 0) await send('PATCH', `/readings/${bookId}`, { note: textOf(65_535) })
    books.push(bookId)
  }
  const [bookId = 0] = books
  let memoId = 0
  for (let n = 0; n < MEMOS; n++) {
    memoId = await writeMemo(service, member, bookId, { memoContent: textOf(65_535, n), memoAuthority: 'PUBLIC' })
  }
  const links: Record<string, string> = {}
  for (const kind of LINK_KINDS) {
    const { url = '' } = await send('POST', '/links', {
      name: textOf(100),
      kind,
      ...(kind === 'YEAR' && { year: YEAR }),
    })
    links[kind] = new URL(url).pathname
  }
  await send('POST', '/tokens', { name: textOf(100), scopes: ['library:read'] })
  // Rows without a title fail, and are kept.
  const quoted = textOf(20_000).replaceAll('"', '""')
  const file = `Title,Author,My Review\n${Array.from({ length: ROWS }, (_, n) => `"${n % 2 ? quoted : ''}","${quoted}","${quoted}"\n`).join('')}`
  const { body } = await service.request({
    method: 'POST',
    path: '/imports?dryRun=true',
    token,
    body: file,
    type: 'text/csv',
  })
  const { importId } = body as { importId: number }
  while (
    (await service.request({ method: 'GET', path: `/imports/${importId}`, token })).body?.['status' as never] ===
    'RUNNING'
  ) {
    await setTimeout(50)
  }
  const values = {
    ...{ 'book-id': bookId, bookId, 'reading-id': bookId, 'memo-id': memoId, 'import-id': importId, year: YEAR },
    ...{
      tag: tags[0],
      author: textOf(500),
      q: repeatTo(part, 25 * factor).trim(),
      size: 100,
      bookStatus: 'DONE',
      part: 1,
    },
  }
  const parameters = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))
  return { token, parameters, links }
}
export type HostileLibrary = Awaited<ReturnType<typeof fillHostileLibrary>>

/** Without the parameter for further parts of exports. */
const toPath = (...operation: Parameters<typeof addressOf>) => addressOf(...operation).replace(/[?&]plan=[\w-]+/, '')

type Read = [name: string, toRequest: (library: HostileLibrary) => Request]
const reads = operations
  .filter(({ method, needsToken, template }) => method === 'GET' && needsToken && !/image|goals/.test(template))
  .map(
    (operation): Read => [
      `GET ${operation.template}`,
      ({ token, parameters }) => ({ method: 'GET', path: toPath(operation, parameters), token }),
    ],
  )
const linkReads = LINK_KINDS.flatMap((kind) =>
  SUFFIXES[kind].map(
    (suffix): Read => [`link to ${kind}${suffix}`, ({ links }) => ({ method: 'GET', path: `${links[kind]}${suffix}` })],
  ),
)
/** What reads a library. */
export const READS = [...reads, ...linkReads]
