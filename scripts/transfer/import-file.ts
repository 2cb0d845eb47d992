import type { Import, ImportRow, UndoneImport } from '../../src/transfer/imports/responses.ts'
import { printable } from '../print.ts'
import { toReason } from './reasons.ts'
import { createClient, expectOk, readJson, type Send, type Service } from './service.ts'

export type ImportFlags = {
  dryRun?: boolean
  format?: string
  merge?: string
  keepVisibility?: boolean
  encoding?: string
  /** Such as `shelf=DONE`. */
  map?: string[]
  /** Such as `title=책 이름`. */
  column?: string[]
}

type Options = Service & {
  file: Blob
  name: string
  flags: ImportFlags
  report: (line: string) => void
  pollMs?: number
}

const ROWS_PER_PAGE = 1000
/** A line at least this often, even without progress. */
const REPORT_MS = 3000
/** The import goes on while the service cannot be reached. */
const MAX_FAILED_POLLS = 30

const wait = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms))

/** `splitAt` finds the `=`: that of a shelf is the last one, because its name may contain others. */
const toPairs = (pairs: string[], splitAt: (pair: string) => number) =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = splitAt(pair)
      if (at < 1) throw new Error(`"${pair}" must be a name, =, and a value.`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )

const toRequest = ({ file, name, flags }: Options) => {
  const { dryRun, format, merge, keepVisibility, encoding, map = [], column = [] } = flags
  const form = new FormData()
  form.append('file', file, name)
  if (map.length > 0) form.append('shelfMap', JSON.stringify(toPairs(map, (pair) => pair.lastIndexOf('='))))
  if (column.length > 0) form.append('columns', JSON.stringify(toPairs(column, (pair) => pair.indexOf('='))))
  const named = Object.entries({ format, merge, encoding, keepVisibility: keepVisibility ? 'true' : '' }).filter(
    (each): each is [string, string] => !!each[1],
  )
  return { path: `/imports?${new URLSearchParams([['dryRun', String(dryRun ?? false)], ...named])}`, form }
}

const countDone = ({ counts }: Import) => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** Returns undefined if the service is temporarily unavailable. */
const poll = async (send: Send, path: string): Promise<Import | undefined> => {
  const response = await send('GET', path).catch(() => undefined)
  const isTemporary = !response || response.status === 429 || response.status >= 500
  return isTemporary ? undefined : readJson<Import>(response)
}

const follow = async (send: Send, started: Import, { report, pollMs = 1000 }: Options) => {
  const path = `/imports/${started.importId}`
  let last = started
  let reported = { done: -1, at: 0 }
  for (let failed = 0; last.status === 'RUNNING'; ) {
    const done = countDone(last)
    if (done !== reported.done || Date.now() - reported.at >= REPORT_MS) {
      report(`${done} of ${last.rows} rows`)
      reported = { done, at: Date.now() }
    }
    await wait(pollMs)
    const next = await poll(send, path)
    failed = next ? 0 : failed + 1
    if (!next) report('The service is unavailable at the moment.')
    if (failed >= MAX_FAILED_POLLS) throw new Error(`The service became unavailable. GET ${path} continues the import.`)
    last = next ?? last
  }
  report(`${countDone(last)} of ${last.rows} rows`)
  return last
}

const listRows = async (send: Send, { importId, rows: total }: Import) => {
  const rows: ImportRow[] = []
  for (let page = 1; rows.length < total; page++) {
    const path = `/imports/${importId}/rows?page=${page}&size=${ROWS_PER_PAGE}`
    const { item } = await readJson<{ item: ImportRow[] }>(await send('GET', path))
    if (item.length === 0) break
    rows.push(...item)
  }
  return rows
}

const toLine = ({ outcome, line, title, code }: ImportRow) =>
  `${outcome}: line ${line}, ${title === null ? 'without a title' : `"${printable(title)}"`}: ${toReason(code)}`

const toDuplicate = ({ line, title, bookId, similarTo }: ImportRow) => {
  const row = `possible duplicate: line ${line}, "${printable(title ?? '')}"`
  if (!similarTo) return `${row}: the similar book is gone`
  const other = `"${printable(similarTo.title)}" (book ${similarTo.bookId})`
  if (bookId === null) return `${row}: ${other} is similar`
  return `${row} (book ${bookId}): to merge it into ${other}: POST /books/${similarTo.bookId}/merge {"from": ${bookId}}`
}

const toValue = (value: string | null) => (value === null ? 'nothing' : printable(value))
const toChanges = ({ line, title, changes }: ImportRow) => [
  `changes: line ${line}, "${printable(title ?? '')}"`,
  ...changes.map(({ field, from, to }) => `  ${printable(field)}: ${toValue(from)} → ${toValue(to)}`),
]

const FIELDS = { STATUS: 'status', RATING: 'rating', DATE: 'finishedAt' }

const toWarning = ({ column, looksLike, samples }: Import['unreadColumns'][number]) => {
  const [name, values] = [printable(column), samples.map(printable).join(', ')]
  const option = `--column ${quote(`${FIELDS[looksLike]}=${name}`)}`
  return `Warning: ${name} looks like a ${looksLike.toLowerCase()}, and is not imported (${values}): ${option}, if it is`
}

/** The fields of highlights, which are their places in the file. */
const PLACE = /^(?:location|line|entry) \d+(?:-\d+)?$/

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** A line for losses of a kind. A shelf whose meaning is not known is kept as a tag. */
const toLoss = ({ code, field }: ImportRow['losses'][number]) => {
  const [, shelf] = code === 'custom-shelf-needs-choice' ? (/: (.*)$/s.exec(field) ?? []) : []
  if (shelf !== undefined) {
    const name = printable(shelf)
    return (books: number) =>
      `shelf ${name} (${books} ${books === 1 ? 'book' : 'books'}): --map ${quote(`${name}=STOPPED`)}, or another status, or TAG`
  }
  const lost = PLACE.test(field) ? 'highlights' : printable(field)
  return (count: number) => `not kept: ${count} × ${lost}: ${toReason(code)}`
}

/** How often something was lost, by column and reason: the most frequent first. */
const summarizeLosses = (rows: ImportRow[]) => {
  const counts = new Map<string, { count: number; toLine: (count: number) => string }>()
  for (const { losses } of rows) {
    for (const { code, field, count } of losses) {
      // Losses that are only counted are most likely like those of the same reason that are listed.
      const listed = count === undefined ? undefined : losses.find((loss) => loss.code === code)
      const toLine = toLoss(listed ?? { code, field })
      const key = toLine(0)
      counts.set(key, { count: (counts.get(key)?.count ?? 0) + (count ?? 1), toLine })
    }
  }
  return [...counts.values()].sort((one, other) => other.count - one.count).map(({ count, toLine }) => toLine(count))
}

/** The imports of the last 30 days, a line each. @throws Error that says what to do */
export const listImports = async (service: Service) => {
  const send = createClient(service)
  const imports = await readJson<Import[]>(await send('GET', '/imports'))
  return imports.map(({ importId, createdAt, status, format, dryRun, counts }) => {
    const { created, updated, failed } = counts
    const results = `${created} created, ${updated} updated, ${failed} failed`
    return `${importId}  ${createdAt}  ${status}  ${format}${dryRun ? ', dry run' : ''}: ${results}`
  })
}

/** @throws Error that says what to do */
export const undoImport = async (service: Service, importId: string) => {
  const send = createClient(service)
  const path = `/imports/${encodeURIComponent(importId)}`
  const { removed, restored, kept } = await readJson<UndoneImport>(await send('DELETE', path))
  const changed = kept.filter(({ left }) => left.length > 0)
  return [
    `${removed} books removed, ${restored} restored`,
    ...changed.map(({ title, left }) => `changed since: "${printable(title)}": ${left.join(', ')} kept`),
  ]
}

/** Sends a file, waits until its import ends, and reports on it. @throws Error that says what to do */
export const importFile = async (options: Options) => {
  const { report } = options
  const send = createClient(options)
  const { path, form } = toRequest(options)
  const started = await readJson<Import>(await send('POST', path, form))
  const { importId, format, encoding, unknownColumns, unreadColumns } = started
  report(`Import ${importId}${started.dryRun ? ', a dry run' : ''}: format ${format}, encoding ${encoding}`)
  if (unknownColumns.length > 0) report(`Columns that are not imported: ${unknownColumns.map(printable).join(', ')}`)
  for (const unread of unreadColumns) report(toWarning(unread))
  const ended = await follow(send, started, options)
  const rows = await listRows(send, ended)
  const problems = [
    ...rows.filter(({ outcome }) => outcome === 'failed').map(toLine),
    ...rows.filter(({ outcome }) => outcome === 'skipped').map(toLine),
    ...rows.filter(({ code }) => code === 'possible-duplicate').map(toDuplicate),
    ...summarizeLosses(rows),
  ]
  const changes = ended.dryRun ? rows.filter(({ changes }) => changes.length > 0).flatMap(toChanges) : []
  const failed =
    ended.counts.failed > 0 ? await expectOk(await send('GET', `/imports/${importId}/failed.csv`)) : undefined
  return { ended, problems, changes, failedCsv: await failed?.text() }
}
