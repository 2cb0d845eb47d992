// Kills workerd at a random moment of an import, restarts it, and continues the import with GET until it has ended. The
// library, the counts and the report must be those of an import that was not disturbed, and a copy that was made before, and follows
// with its cursor, must be the library.
//
// A run holds the lease of its import for 45 s after a kill (src/runtime/deadlines.ts). Instead of waiting, the suite
// ends the lease in the database.
import { cpSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { sendRequest } from '../../support/service/http-client'
import { type Copy, compareCopy, createCopy } from '../../support/sync/copy'
import { createDraw } from '../../support/sync/draw'
import { goodreadsFile, goodreadsRow } from '../../support/transfer/goodreads-file'
import type { Attack } from '../harness/attack'
import { insertMember, type Member, registerBook } from '../harness/members'
import { makeFolder, type Options, type Service } from '../harness/service'
import { compare, NEWEST_IMPORT, takeSnapshot } from './import-snapshot'

const ROWS = 1000
/** Of so many kills, one comes before the response, one at any time after it, and the others between rows. */
const KINDS = 5
/** As in src/transfer/imports/run.ts. */
const CHUNK_ROWS = 120
/** About what a chunk takes. */
const WITHIN_CHUNK_MS = 60
const POLL_MS = 20
const TIMEOUT_MS = 120_000

const numbers = Array.from({ length: ROWS }, (_, at) => at + 1)

const toUnread = (row: string) => row.replace(/,2024[/\d]+,/, ',,').replace(',read,', ',to-read,')

/** An export of a tenth of the books, half of which were not read yet. */
const EARLIER = goodreadsFile(
  numbers.filter((n) => n % 10 === 1).map((n) => (n % 20 === 1 ? goodreadsRow(n) : toUnread(goodreadsRow(n)))),
)

/** Lines that a run could mistake for one another when it continues: books of the same title and author. */
const toNamesake = (n: number) => goodreadsRow(n, 'Low Tide').replace(/Mina Oh \d+,"[^,]*"/, 'Ana Ruiz,""')

const toRow = (n: number) => {
  if (n % 50 === 0) return goodreadsRow(n, '')
  if (n % 40 === 5) return goodreadsRow(n - 4)
  // The first one has no identifier of the service, nor an ISBN.
  if (n === 3) return toNamesake(n).replace(/^\d+/, '')
  if ([4, 302, 602, 902].includes(n)) return toNamesake(n)
  return goodreadsRow(n)
}
const FILE = goodreadsFile(numbers.map(toRow))

const options = (data: string): Options => ({
  entry: 'test/attacks/workers/distant.ts',
  data,
  uploadsPerMinute: 100_000,
})

const sendFile = ({ url }: Service, { token }: Member, body: string) =>
  sendRequest(url, { method: 'POST', path: '/imports', token, body, type: 'text/csv' })

type Import = { importId: number; status: string; reason: string | null; rows: number; counts: Record<string, number> }

/** The member's newest import. */
const getNewest = async ({ request }: Service, { token }: Member) =>
  ((await request({ method: 'GET', path: '/imports', token })).body as Import[])[0]

/** Continues an import until it has ended. */
const finish = async ({ request }: Service, { token }: Member, { importId }: Import) => {
  const end = Date.now() + TIMEOUT_MS
  while (Date.now() < end) {
    const { body } = await request({ method: 'GET', path: `/imports/${importId}`, token })
    if ((body as Import).status !== 'RUNNING') return body as Import
    await setTimeout(POLL_MS)
  }
  throw new Error(`The import has not ended after ${TIMEOUT_MS / 1000} s`)
}

/** Imports a file, and returns the ended import, with the times of the response and of the work after it. */
const importFile = async (service: Service, member: Member, file: string) => {
  const sent = performance.now()
  const { status, body } = await sendFile(service, member, file)
  const responded = performance.now()
  if (status !== 202) throw new Error(`POST /imports: ${status}: ${body}`)
  const ended = await finish(service, member, JSON.parse(body))
  if (ended.status !== 'DONE') throw new Error(`The import failed: ${ended.reason}`)
  return { ended, responseMs: responded - sent, workMs: performance.now() - responded }
}

const from =
  ({ request }: Service, { token }: Member) =>
  (path: string) =>
    request({ method: 'GET', path, token })

/** Whether a copy from before the import, with its cursor, becomes the library. */
const isFollowed = async (service: Service, member: Member, before: Copy) => {
  const follower = createCopy(from(service, member), before)
  await follower.pull()
  const { copy, library } = await compareCopy(from(service, member), follower)
  return isDeepStrictEqual(copy, library)
}

/** Data of a member with a library, to be copied, and the copy of a client that syncs. */
const prepare = async (start: (options: Options) => Promise<Service>) => {
  const data = makeFolder()
  const service = await start(options(data))
  const member = await insertMember(service)
  await importFile(service, member, EARLIER)
  await registerBook(service, member, { title: 'The Salt Archive 502', author: 'Mina Oh 202' })
  await registerBook(service, member, { title: 'The Salt Archive 777', author: 'Mina Oh 177', bookStatus: 'ING' })
  const client = createCopy(from(service, member))
  await client.pull()
  await service.stop()
  return { data, member, client }
}

const copy = (data: string) => {
  const folder = makeFolder()
  cpSync(data, folder, { recursive: true })
  return folder
}

/** Waits until some rows are done. */
const waitForRows = async ({ database }: Service, rows: number) => {
  const select = database.prepare(`select status, done from imports where importId = ${NEWEST_IMPORT}`)
  for (;;) {
    const { status, done } = (await select.first<{ status: string; done: number }>()) ?? { status: '', done: 0 }
    if (status !== 'RUNNING' || done >= rows) return
  }
}

const countFiles = async ({ bucket }: Service) => (await bucket.list({ prefix: 'imports/' })).objects.length

/** What a kill left: nothing, an import with some of its rows, or an ended one. */
const inspect = async (service: Service, member: Member, begin: number) => {
  await service.database.prepare(`update imports set leaseEndsAt = 0 where status = 'RUNNING'`).run()
  const found = await getNewest(service, member)
  if (!found || found.importId < begin) return undefined
  const done = Object.values(found.counts).reduce((sum, count) => sum + count, 0)
  return { found, isPartial: found.status === 'RUNNING' && done > 0 }
}

type Wait = (service: Service, sending: Promise<unknown>) => Promise<void>

export const imports: Attack = async ({ start, quick, seed, progress }) => {
  const draw = createDraw(seed)
  const times = quick ? 1 : 100
  const begin = Date.now()
  const { data, member, client } = await prepare(start)
  const prepared = Date.now()

  let service = await start(options(copy(data)))
  const { ended, responseMs, workMs } = await importFile(service, member, FILE)
  const { counts } = ended
  const expected = await takeSnapshot(service, begin)
  await service.stop()
  const figures = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`)
  progress(`undisturbed: ${figures.join(', ')} in ${Math.round(responseMs)} + ${Math.round(workMs)} ms`)

  const failures = Object.entries(counts).flatMap(([outcome, count]) =>
    count > 0 ? [] : [`the file has no row that is ${outcome}: the suite would miss faults in such rows`],
  )
  const seen = { partial: 0, sentAgain: 0, different: 0, mismatches: 0, files: 0 }

  const kill = async (untilSent: Wait, waitMs: number) => {
    const folder = copy(data)
    service = await start(options(folder))
    const sending = sendFile(service, member, FILE).catch(() => undefined)
    await untilSent(service, sending)
    await setTimeout(waitMs)
    process.kill(service.pid, 'SIGKILL')
    await sending
    await service.stop()
    service = await start(options(folder))
    const left = await inspect(service, member, prepared)
    if (left?.isPartial) seen.partial += 1
    const continued = left && (await finish(service, member, left.found))
    if (continued?.status !== 'DONE') {
      // The kill came before the import, or before its file, was stored.
      seen.sentAgain += 1
      const done = Object.values(continued?.counts ?? {}).some((count) => count > 0)
      if (done) throw new Error(`The import failed after some of its rows: ${continued?.reason}`)
      await importFile(service, member, FILE)
    }
    const differences = compare(expected, await takeSnapshot(service, begin))
    const mismatches = await service.findMismatches()
    if (!(await isFollowed(service, member, client))) differences.push('the copy of a client that syncs differs')
    if (differences.length > 0) seen.different += 1
    seen.mismatches += mismatches.length
    seen.files += await countFiles(service)
    await service.stop()
    return [...differences, ...mismatches]
  }

  /** When a kill comes: after this, by up to so many milliseconds. */
  const momentOf = (kind: number, rows: number): [string, Wait, number] => {
    if (kind === 1) return ['the request', async () => {}, responseMs]
    if (kind === 2) return ['the response', async (_, sending) => void (await sending), workMs]
    const untilRows: Wait = async (service, sending) => {
      await sending
      await waitForRows(service, rows)
    }
    return [`row ${rows}`, untilRows, WITHIN_CHUNK_MS]
  }

  for (let n = 1; n <= times; n++) {
    const rows = 1 + draw(ROWS - 2 * CHUNK_ROWS)
    const [when, until, mostMs] = momentOf(quick ? 0 : n % KINDS, rows)
    const waitMs = draw(mostMs)
    const problems = await kill(until, waitMs).catch((error: Error) => [error.message])
    failures.push(...problems.map((problem) => `killed ${waitMs} ms after ${when}: ${problem}`))
    if (quick || n % 10 === 0) progress(`${n} kills, ${seen.partial} between rows, ${failures.length} failures`)
  }
  await service.stop()
  if (seen.partial === 0) failures.push('no kill came between rows')
  return {
    figures: [
      [`kills of workerd during an import of ${ROWS} rows`, times, `${seen.different} ended differently`],
      ['kills after a part of the rows', seen.partial, 'continued by GET'],
      ['kills before the file was stored', seen.sentAgain, 'the file was sent again'],
      ['integrity checks after the import', times, `${seen.mismatches} mismatches`],
      ['files left in the bucket by a kill', seen.files, 'for the sweep'],
    ],
    failures,
  }
}
