import type { Import, ImportRow } from '../../src/transfer/imports/responses.ts'
import { toReason } from './reasons.ts'
import { createClient, expectOk, type Fetch, readJson, type Send } from './service.ts'

export type ImportFlags = {
  dryRun?: boolean
  format?: string
  merge?: string
  encoding?: string
  /** Such as `shelf=DONE`. */
  map?: string[]
  /** Such as `title=책 이름`. */
  column?: string[]
}

type Options = {
  fetch: Fetch
  base: string
  token: string
  file: Blob
  name: string
  flags: ImportFlags
  report: (line: string) => void
  pollMs?: number
}

const ROWS_PER_PAGE = 1000
const MAX_LOSSES = 20
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
  const { dryRun, format, merge, encoding, map = [], column = [] } = flags
  const form = new FormData()
  form.append('file', file, name)
  if (map.length > 0) form.append('shelfMap', JSON.stringify(toPairs(map, (pair) => pair.lastIndexOf('='))))
  if (column.length > 0) form.append('columns', JSON.stringify(toPairs(column, (pair) => pair.indexOf('='))))
  const named = Object.entries({ format, merge, encoding }).filter((each): each is [string, string] => !!each[1])
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

// Titles come from the file: a control character could change the terminal.
const printable = (text: string) => text.replace(/\p{Cc}/gu, ' ')

const toLine = ({ outcome, line, title, code }: ImportRow) =>
  `${outcome}: line ${line}, ${title === null ? 'without a title' : `"${printable(title)}"`}: ${toReason(code)}`

/** How many rows lost something, by column and reason: the most frequent first. Fields of highlights are their places. */
const summarizeLosses = (rows: ImportRow[]) => {
  const losses = rows.flatMap(({ losses }) => losses)
  const byLoss = Map.groupBy(losses, ({ code, field }) => `${printable(field)}: ${toReason(code)}`)
  const lines = [...byLoss]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([loss, { length }]) => `not kept in ${length === 1 ? '1 row' : `${length} rows`}: ${loss}`)
  const others = lines.length - MAX_LOSSES
  return others > 0 ? [...lines.slice(0, MAX_LOSSES), `and ${others} others, in the report`] : lines
}

/** Sends a file, waits until its import ends, and reports on it. @throws Error that says what to do */
export const importFile = async (options: Options) => {
  const { fetch, base, token, report } = options
  const send = createClient(fetch, base, token)
  const { path, form } = toRequest(options)
  const started = await readJson<Import>(await send('POST', path, form))
  const { importId, format, encoding, unknownColumns } = started
  report(`Import ${importId}${started.dryRun ? ', a dry run' : ''}: format ${format}, encoding ${encoding}`)
  if (unknownColumns.length > 0) report(`Columns that are not imported: ${unknownColumns.join(', ')}`)
  const ended = await follow(send, started, options)
  const rows = await listRows(send, ended)
  const problems = [
    ...rows.filter(({ outcome }) => outcome === 'failed').map(toLine),
    ...rows.filter(({ outcome }) => outcome === 'skipped').map(toLine),
    ...summarizeLosses(rows),
  ]
  const failed =
    ended.counts.failed > 0 ? await expectOk(await send('GET', `/imports/${importId}/failed.csv`)) : undefined
  return { ended, problems, failedCsv: await failed?.text() }
}
