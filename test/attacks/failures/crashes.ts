// Kills workerd repeatedly while members write, then checks that acknowledged writes survived and counters agree.
import { setTimeout } from 'node:timers/promises'
import { findMismatches } from '../../../scripts/data/integrity'
import { findOrphans } from '../../../scripts/data/objects'
import { findDirectoryProblems } from '../../support/accounts/directory'
import type { Attack } from '../harness/attack'
import { toLines } from '../harness/client'
import { jsonRequest, type Member, signUp, signUpMany, uploadRequest } from '../harness/members'
import { makeFolder, type Service } from '../harness/service'

const WRITERS = 16
const TAGS = ['novel', '소설', 'Été']
const LIFETIME_MS = { min: 150, max: 600 }

/** The acknowledged writes of a writer. One in flight at a crash is unconfirmed: it may or may not have happened. */
const createWriter = (member: Member) => ({
  member,
  /** The possible stars of each book. */
  books: new Map<number, number[]>(),
  memos: new Map<number, number>(),
  /** The possible tags of each book. */
  tags: new Map<number, string[]>(),
  /** The possible current pages of each book. */
  pages: new Map<number, number[]>(),
  readings: new Map<number, number>(),
  deletedBooks: new Set<number>(),
  deletedMemos: new Set<number>(),
  images: [] as string[],
  /** The key of a creation without an answer so far, which is also the title of the book. */
  unanswered: undefined as string | undefined,
  hasUnconfirmedWithdrawal: false,
})
type Writer = ReturnType<typeof createWriter>

const pick = <T>(all: Iterable<T>): T | undefined => {
  const list = [...all]
  return list[Math.floor(Math.random() * list.length)]
}

const registerWithKey = (key: string, token: string) =>
  jsonRequest('POST', '/books', { title: key }, { token, headers: toLines([['Idempotency-Key', key]]) })

/** Makes one random write and records it once acknowledged. */
const write = async (service: Service, writer: Writer): Promise<void> => {
  const { member, books, memos } = writer
  const { token } = member
  const roll = Math.random()
  const bookId = pick(books.keys())
  const memoId = pick(memos.keys())
  const request = async (method: string, path: string, expected: number, body?: unknown) => {
    const { status, body: answer } = await service.request(jsonRequest(method, path, body, { token }))
    if (status !== expected) throw new Error(`${method} ${path}: ${status}`)
    return answer as Record<string, number>
  }
  if (roll < 0.3 || bookId === undefined) {
    writer.unanswered = crypto.randomUUID()
    const { status, body } = await service.request(registerWithKey(writer.unanswered, token))
    if (status !== 201) throw new Error(`POST /books: ${status}`)
    writer.unanswered = undefined
    books.set((body as { bookId: number }).bookId, [0])
  } else if (roll < 0.55) {
    const memo = { memoBookPage: 1, memoContent: 'x' }
    const { memoId: created } = await request('POST', `/memos?bookId=${bookId}`, 201, memo)
    memos.set(Number(created), bookId)
  } else if (roll < 0.75) {
    const star = Math.floor(Math.random() * 6)
    books.set(bookId, [...(books.get(bookId) ?? []), star])
    await request('PATCH', `/books/${bookId}`, 200, { star, bookStatus: star % 3 })
    books.set(bookId, [star])
  } else if (roll < 0.79) {
    const tag = TAGS[Math.floor(Math.random() * TAGS.length)] ?? ''
    writer.tags.set(bookId, [...(writer.tags.get(bookId) ?? ['']), tag])
    await request('PUT', `/books/${bookId}/tags`, 200, { tags: [tag] })
    writer.tags.set(bookId, [tag])
  } else if (roll < 0.82) {
    const page = Math.floor(Math.random() * 300)
    writer.pages.set(bookId, [...(writer.pages.get(bookId) ?? [0]), page])
    await request('POST', `/books/${bookId}/progress`, 201, { page })
    writer.pages.set(bookId, [page])
  } else if (roll < 0.85) {
    // In the past, so that the stars and the status of the book stay as they are.
    const reading = { finishedAt: '1999', outcome: 'STOPPED' }
    const { readingId } = await request('POST', `/books/${bookId}/readings`, 201, reading)
    writer.readings.set(Number(readingId), bookId)
  } else if (roll < 0.88 && memoId !== undefined) {
    memos.delete(memoId)
    await request('DELETE', `/memos/${memoId}`, 204)
    writer.deletedMemos.add(memoId)
  } else if (roll < 0.92) {
    books.delete(bookId)
    writer.tags.delete(bookId)
    writer.pages.delete(bookId)
    for (const details of [memos, writer.readings]) {
      for (const [id, book] of details) if (book === bookId) details.delete(id)
    }
    await request('DELETE', `/books/${bookId}`, 204)
    writer.deletedBooks.add(bookId)
  } else if (roll < 0.99) {
    const { status, body } = await service.request(uploadRequest(member))
    if (status !== 201) throw new Error(`upload: ${status}`)
    writer.images.push(new URL(String(body)).pathname.slice(1))
  } else {
    writer.hasUnconfirmedWithdrawal = true
    await request('DELETE', '/members/me', 204)
    Object.assign(writer, createWriter(await signUp(service)))
  }
}

/** The rows of a writer by identifier, such as the stars of each book, or the book of each memo. */
const readRows = async <Value extends number | string = number>(
  { database }: Service,
  columns: string,
  { member }: Writer,
) => {
  const statement = database.prepare(`select ${columns} where memberId = ?`).bind(member.memberId)
  return new Map((await statement.raw()) as [id: number, value: Value][])
}

/** Repeats a creation whose answer a kill has lost. Then there must be one row. */
const repeatUnanswered = async (service: Service, { unanswered, books, member }: Writer) => {
  if (!unanswered) return []
  const { status, body } = await service.request(registerWithKey(unanswered, member.token))
  if (status !== 201) return [`a repeated creation got ${status}`]
  books.set((body as { bookId: number }).bookId, [0])
  const count = 'select count(*) as count from books where memberId = ? and title = ?'
  const made = await service.database.prepare(count).bind(member.memberId, unanswered).first<number>('count')
  return made === 1 ? [] : [`a repeated creation made ${made} books`]
}

/** Acknowledged writes that are missing from the stores. */
const findLost = async (service: Service, writer: Writer) => {
  if (writer.hasUnconfirmedWithdrawal) return []
  const lost = await repeatUnanswered(service, writer)
  writer.unanswered = undefined
  const books = await readRows(service, 'bookId, star from books', writer)
  const memos = await readRows(service, 'memoId, bookId from memos', writer)
  for (const [id, stars] of writer.books) {
    if (!books.has(id)) lost.push(`book ${id} is lost`)
    else if (!stars.includes(books.get(id) ?? -1)) lost.push(`book ${id} has the wrong stars`)
  }
  for (const id of writer.memos.keys()) if (!memos.has(id)) lost.push(`memo ${id} is lost`)
  const readings = await readRows(service, 'readingId, bookId from readings', writer)
  for (const id of writer.readings.keys()) if (!readings.has(id)) lost.push(`reading ${id} is lost`)
  const pages = await readRows(service, 'bookId, currentPage from books', writer)
  for (const [id, possible] of writer.pages) {
    if (!possible.includes(pages.get(id) ?? -1)) lost.push(`book ${id} has the wrong page`)
  }
  const tags = await readRows<string>(service, 'bookId, tag from bookTags join tags using (memberId, tagId)', writer)
  for (const [id, possible] of writer.tags) {
    if (!possible.includes(tags.get(id) ?? '')) lost.push(`book ${id} has the wrong tag`)
  }
  for (const id of writer.deletedBooks) if (books.has(id)) lost.push(`book ${id} was deleted and still exists`)
  for (const id of writer.deletedMemos) if (memos.has(id)) lost.push(`memo ${id} was deleted and still exists`)
  for (const key of writer.images) if (!(await service.bucket.head(key))) lost.push(`image ${key} is lost`)
  return lost.map((problem) => `member ${writer.member.memberId}: ${problem}`)
}

/** Writes until the service is killed. `errors`: unexpected responses before that. */
const writeUntilKilled = async (service: Service, writers: Writer[]) => {
  let acknowledged = 0
  let isKilled = false
  const errors: string[] = []
  const work = async (writer: Writer) => {
    try {
      for (; !isKilled; acknowledged++) await write(service, writer)
    } catch (error) {
      if (!isKilled) errors.push(String(error))
    }
  }
  const working = writers.map(work)
  await setTimeout(LIFETIME_MS.min + Math.random() * (LIFETIME_MS.max - LIFETIME_MS.min))
  isKilled = true
  process.kill(service.pid, 'SIGKILL')
  await Promise.all(working)
  return { acknowledged, errors }
}

export const crashes: Attack = async ({ start, quick, progress }) => {
  const times = quick ? 5 : 100
  const failures: string[] = []
  let [acknowledged, repeated, lost, mismatches] = [0, 0, 0, 0]
  const options = { data: makeFolder(), uploadsPerMinute: 100_000 }
  let service = await start(options)
  const writers = (await signUpMany(service, WRITERS)).map(createWriter)
  for (let crash = 1; crash <= times; crash++) {
    const written = await writeUntilKilled(service, writers)
    acknowledged += written.acknowledged
    failures.push(...written.errors.map((error) => `before crash ${crash}: ${error}`))
    await service.stop()
    service = await start(options)
    const found = (await Promise.all(service.databases.map((database, slot) => findMismatches(database, slot)))).flat()
    mismatches += found.length
    failures.push(...found.map(({ table, id, field }) => `after crash ${crash}: ${field} of ${table} ${id} is wrong`))
    repeated += writers.filter(({ unanswered }) => unanswered).length
    for (const writer of writers) {
      const missing = await findLost(service, writer)
      lost += missing.length
      failures.push(...missing.map((problem) => `after crash ${crash}: ${problem}`))
      if (writer.hasUnconfirmedWithdrawal) Object.assign(writer, createWriter(await signUp(service)))
    }
    if (crash % 10 === 0) progress(`${crash} crashes, ${acknowledged} writes acknowledged`)
  }
  // Otherwise the sweep would leave claims that a kill left open for another minute.
  await service.directory.prepare(`update addresses set settleAt = 0 where state = 'CLAIMED'`).run()
  await service.runCron()
  const differences = await findDirectoryProblems(service.databases, service.addressKey)
  failures.push(...differences.map((problem) => `the directory differs from the members: ${problem}`))
  // A kill between the two steps of an upload leaves its row, which the member can delete. No upload may leave an object
  // that no row counts.
  const orphans = await findOrphans([service.database], service.bucket)
  failures.push(...orphans.objects.map((key) => `${key}: object without a row`))
  await service.stop()
  return {
    figures: [
      [
        `kills of workerd with ${WRITERS} writers`,
        times,
        `${orphans.objects.length} objects without a row, ${orphans.rows.length} rows without an object`,
      ],
      ['acknowledged writes, looked up afterwards', acknowledged, `${lost} lost`],
      ['creations without an answer, repeated with their keys', repeated, 'one book each'],
      ['integrity checks after a restart', times, `${mismatches} mismatches`],
      [
        'databases whose members were compared with the directory',
        service.databases.length,
        `${differences.length} differences`,
      ],
    ],
    failures,
  }
}
