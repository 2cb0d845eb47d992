// Imports malformed files: first as a dry run, then as an import; some imports are undone. No response may be a 5xx, no row may
// be written in part, both reports must be equal, and each refusal and each failed row must have a reason.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { REPORT_CODES } from '../../../src/transfer/entries/entry'
import { MAX_PER_DAY } from '../../../src/transfer/imports/schema'
import { damage, randomFrom } from '../../support/inputs/malformed-files'
import { type Attack, countStatuses, mapConcurrently } from '../harness/attack'
import type { Response } from '../harness/client'
import { insertMember, type Member } from '../harness/members'
import type { Service } from '../harness/service'

const FIXTURES = 'test/fixtures/imports'
const FILES = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:csv|tsv|json|txt)$/.test(name))
  .map((name) => readFileSync(`${FIXTURES}/${name}`, 'utf8'))
/** A text in each file that must not appear in the log. */
const MARK = 'unlogged-7f3a'
const CONCURRENCY = 4
const POLL_MS = 10
const TIMEOUT_MS = 120_000
/** One of this many imports is undone. */
const UNDONE = 5

type Import = {
  importId: number
  status: string
  reason: string | null
  rows: number
  counts: Record<'created' | 'updated' | 'unchanged' | 'skipped' | 'failed', number>
}
type Row = {
  outcome: string
  code: string | null
  losses: { code: string }[]
  bookId: number | null
  title: string | null
}

const codes = new Set<string | null>(Object.keys(REPORT_CODES))
/** Whether a text is a sentence without internal error details. */
const isSentence = (text: string | null) =>
  text !== null && /^[A-Z][^\0]{10,500}[.?]$/s.test(text) && !/TypeError|\[object|\bat .*:\d+:\d+/.test(text)

/** The problems of a report. */
const judgeRows = ({ rows, counts }: Import, found: Row[]) => {
  const sum = Object.values(counts).reduce((total, count) => total + count, 0)
  const miscounted = Object.entries(counts).filter(
    ([outcome, count]) => found.filter((row) => row.outcome === outcome).length !== count,
  )
  return [
    ...(sum === rows && found.length === rows ? [] : [`${rows} rows, ${found.length} in the report, ${sum} counted`]),
    ...miscounted.map(([outcome]) => `the count of ${outcome} is not that of the report`),
    ...found.flatMap(({ outcome, code, losses }) => [
      ...(outcome === 'failed' && !codes.has(code) ? [`a failed row has the code ${code}`] : []),
      ...losses.filter((loss) => !codes.has(loss.code)).map((loss) => `a loss has the code ${loss.code}`),
    ]),
  ]
}

export const files: Attack = async ({ start, quick, seed, progress }) => {
  const times = quick ? 24 : 500
  const random = randomFrom(seed)
  const cases = Array.from({ length: times }, (_, run) => ({
    run,
    ...damage(
      FILES.map((file) => `${file}\n${MARK}\n`),
      run,
      random,
    ),
  }))
  const service: Service = await start({ uploadsPerMinute: 1e9 })
  service.secrets.add(MARK)
  const { request, database } = service
  const statuses: number[] = []
  const seen = { done: 0, refused: 0, rows: 0, failedRows: 0, undone: 0 }
  const failures: string[] = []

  const get = async ({ token }: Member, path: string) => (await request({ method: 'GET', path, token })).body
  const send = async ({ token }: Member, query: string, body: Uint8Array) => {
    const response = await request({
      method: 'POST',
      path: `/imports${query}`,
      token,
      body,
      type: 'application/octet-stream',
    })
    statuses.push(response.status)
    return response
  }
  const finish = async (member: Member, { importId }: Import) => {
    for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await setTimeout(POLL_MS)) {
      const found = (await get(member, `/imports/${importId}`)) as Import
      if (found.status !== 'RUNNING') return found
    }
    throw new Error(`the import has not ended after ${TIMEOUT_MS / 1000} s`)
  }
  const loadRows = async (member: Member, { importId, rows }: Import) => {
    const found: Row[] = []
    for (let page = 1; found.length < rows; page++) {
      const { item } = (await get(member, `/imports/${importId}/rows?page=${page}&size=100`)) as { item: Row[] }
      if (item.length === 0) break
      found.push(...item)
    }
    return found
  }
  const countBooks = async ({ memberId }: Member) =>
    Number(
      await database.prepare('select count(*) as count from books where memberId = ?').bind(memberId).first('count'),
    )

  const judgeRefusal = async (member: Member, { status, body }: Response) => {
    const { message } = body as { message: string | null }
    const reason = message?.replace(/^The file cannot be imported: /, '') ?? null
    seen.refused += 1
    return [
      ...([413, 422].includes(status) ? [] : [`responded ${status}: ${message}`]),
      ...(status === 422 && !isSentence(reason) ? [`the reason is “${message}”`] : []),
      ...(((await get(member, '/imports')) as Import[]).some(({ status }) => status === 'RUNNING')
        ? ['left an import']
        : []),
    ]
  }

  const tryFile = async (member: Member, { run, bytes }: (typeof cases)[number]) => {
    const before = await countBooks(member)
    const dry = await send(member, '?dryRun=true', bytes)
    if (dry.status !== 202) {
      const again = await send(member, '', bytes)
      const differs =
        again.status === dry.status ? [] : [`the dry run responded ${dry.status}, the import ${again.status}`]
      const written = (await countBooks(member)) === before ? [] : ['a refused file left books']
      return [...(await judgeRefusal(member, dry)), ...differs, ...written]
    }
    const planned = await finish(member, dry.body as Import)
    const plannedRows = await loadRows(member, planned)
    const afterDry = await countBooks(member)
    const { status, body } = await send(member, '', bytes)
    if (status !== 202) return [`the import responded ${status} after a dry run`]
    const done = await finish(member, body as Import)
    const rows = await loadRows(member, done)
    seen.done += 1
    seen.rows += rows.length
    seen.failedRows += rows.filter(({ outcome }) => outcome === 'failed').length
    const withoutBooks = (all: Row[]) => JSON.stringify(all.map(({ bookId: _, ...row }) => row))
    const problems = [
      ...judgeRows(done, rows),
      ...(done.status === 'DONE' ? [] : [`ended ${done.status}: ${done.reason}`]),
      ...(afterDry === before ? [] : ['the dry run wrote books']),
      ...(withoutBooks(plannedRows) === withoutBooks(rows) ? [] : ['the dry run has another report']),
      ...((await countBooks(member)) === before + done.counts.created
        ? []
        : ['the number of books is not that of created rows']),
    ]
    if (run % UNDONE === 0) {
      const undone = await request({ method: 'DELETE', path: `/imports/${done.importId}`, token: member.token })
      seen.undone += 1
      if (undone.status !== 200 || (await countBooks(member)) !== before)
        problems.push(`the undo left books: ${JSON.stringify(undone.body)} after ${JSON.stringify(rows)}`)
    }
    return problems
  }

  /** A member can start this many imports a day. */
  const filesPerMember = MAX_PER_DAY / 2
  const groups = Array.from({ length: Math.ceil(times / filesPerMember) }, (_, at) =>
    cases.slice(at * filesPerMember, (at + 1) * filesPerMember),
  )
  let tried = 0
  await mapConcurrently(CONCURRENCY, groups, async (group) => {
    const member = await insertMember(service)
    for (const file of group) {
      const problems = await tryFile(member, file).catch((error: Error) => [error.message])
      failures.push(...problems.map((problem) => `file ${file.run} (${file.kinds}): ${problem}`))
      tried += 1
      if (tried % 50 === 0) progress(`${tried} files, ${failures.length} failures`)
    }
  })
  const mismatches = await service.findMismatches()
  failures.push(...mismatches)
  const left = (await service.bucket.list({ prefix: 'imports/' })).objects.length
  if (left > 0) failures.push(`${left} files are left in the bucket`)
  return {
    figures: [
      ['malformed files, each as a dry run and as an import', times, countStatuses(statuses)],
      ['files refused as a whole, with a reason', seen.refused, 'nothing stored'],
      ['files imported', seen.done, `${seen.rows} rows, ${seen.failedRows} failed`],
      ['imports undone', seen.undone, 'no book left'],
      ['integrity checks of the databases', service.databases.length, `${mismatches.length} mismatches`],
    ],
    failures,
  }
}
