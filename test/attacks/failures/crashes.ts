// Kills workerd repeatedly while members write and pull changes, then checks that acknowledged writes survived, that repeated
// creations made one row, and that counters and copies agree.
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { findOrphans } from '../../../scripts/data/objects'
import { findDirectoryProblems } from '../../support/accounts/directory'
import { createCopy } from '../../support/sync/copy'
import { createDraw, type Draw } from '../../support/sync/draw'
import type { Attack } from '../harness/attack'
import { insertMember, jsonRequest, type Member } from '../harness/members'
import { makeFolder, type Service } from '../harness/service'
import { type Creation, countCreated, createOnce } from './keyed-creations'

const WRITERS = 16
const TAGS = ['novel', '소설', 'Été']
const LIFETIME_MS = { min: 150, max: 600 }

/** The service that runs, and what draws the writes. */
type Current = { service: Service; draw: Draw }

/** The acknowledged writes of a writer. One in flight at a crash is unconfirmed: it may or may not have happened. */
const createWriter = (current: Current, member: Member) => ({
  member,
  /** Pulled between the writes, and across the crashes. */
  copy: createCopy((path) => current.service.request({ method: 'GET', path, token: member.token })),
  /** The possible stars of each book. */
  books: new Map<number, number[]>(),
  memos: new Map<number, number>(),
  /** The possible tags of each book. */
  tags: new Map<number, string[]>(),
  /** The possible current pages of each book. */
  pages: new Map<number, number[]>(),
  readings: new Map<number, number>(),
  /** With their memos and readings, which come back with them. */
  deletedBooks: new Map<number, { stars: number[]; memos: number[]; readings: number[] }>(),
  deletedMemos: new Set<number>(),
  images: [] as string[],
  /** A creation without an answer so far. */
  unanswered: undefined as Creation | undefined,
  hasUnconfirmedWithdrawal: false,
})
type Writer = ReturnType<typeof createWriter>

const pick = <T>(draw: Draw, all: Iterable<T>): T | undefined => {
  const list = [...all]
  return list[draw(list.length)]
}

/** Records what a creation made. */
const record = ({ books, memos, readings, images }: Writer, { kind, bookId = 0 }: Creation, id: unknown) => {
  if (kind === 'books') books.set(Number(id), [0])
  else if (kind === 'images') images.push(String(id))
  else (kind === 'memos' ? memos : readings).set(Number(id), bookId)
}

/** Makes one random write, or pulls a page, and records it once acknowledged. */
const write = async (current: Current, writer: Writer): Promise<void> => {
  const { service, draw } = current
  const { member, books, memos, copy } = writer
  const { token } = member
  const roll = draw(100) / 100
  const bookId = pick(draw, books.keys())
  const memoId = pick(draw, memos.keys())
  const request = async (method: string, path: string, expected: number, body?: unknown) => {
    const { status, body: answer } = await service.request(jsonRequest(method, path, body, { token }))
    if (status !== expected) throw new Error(`${method} ${path}: ${status}`)
    return answer as Record<string, number>
  }
  const create = async (kind: Creation['kind']) => {
    writer.unanswered = { kind, key: crypto.randomUUID(), bookId }
    record(writer, writer.unanswered, await createOnce(service, member, writer.unanswered))
    writer.unanswered = undefined
  }
  if (roll < 0.25 || bookId === undefined) {
    await create('books')
  } else if (roll < 0.5) {
    await create('memos')
  } else if (roll < 0.6) {
    await copy.pullPage(1 + draw(20))
  } else if (roll < 0.75) {
    const star = draw(6)
    books.set(bookId, [...(books.get(bookId) ?? []), star])
    const patch = { star, bookStatus: star % 3 }
    if (star < 3) await request('PATCH', `/books/${bookId}`, 200, patch)
    else await request('PATCH', '/books', 200, { ids: [bookId], set: patch })
    books.set(bookId, [star])
  } else if (roll < 0.79) {
    const tag = TAGS[draw(TAGS.length)] ?? ''
    writer.tags.set(bookId, [...(writer.tags.get(bookId) ?? ['']), tag])
    await request('PUT', `/books/${bookId}/tags`, 200, { tags: [tag] })
    writer.tags.set(bookId, [tag])
  } else if (roll < 0.82) {
    const page = draw(300)
    writer.pages.set(bookId, [...(writer.pages.get(bookId) ?? [0]), page])
    await request('POST', `/books/${bookId}/progress`, 201, { page })
    writer.pages.set(bookId, [page])
  } else if (roll < 0.85) {
    await create('readings')
  } else if (roll < 0.88 && memoId !== undefined) {
    memos.delete(memoId)
    await request('DELETE', `/memos/${memoId}`, 204)
    writer.deletedMemos.add(memoId)
  } else if (roll < 0.91) {
    const idsOf = (details: Map<number, number>) => [...details].flatMap(([id, book]) => (book === bookId ? id : []))
    const deleted = { stars: books.get(bookId) ?? [], memos: idsOf(memos), readings: idsOf(writer.readings) }
    books.delete(bookId)
    writer.tags.delete(bookId)
    writer.pages.delete(bookId)
    for (const id of deleted.memos) memos.delete(id)
    for (const id of deleted.readings) writer.readings.delete(id)
    if (roll < 0.9) await request('DELETE', `/books/${bookId}`, 204)
    else await request('POST', '/books/delete', 200, { ids: [bookId] })
    writer.deletedBooks.set(bookId, deleted)
  } else if (roll < 0.93) {
    const [restored, deleted] = pick(draw, writer.deletedBooks) ?? []
    if (!restored || !deleted) return
    writer.deletedBooks.delete(restored)
    await request('POST', `/trash/book-${restored}/restore`, 200)
    books.set(restored, deleted.stars)
    for (const id of deleted.memos) memos.set(id, restored)
    for (const id of deleted.readings) writer.readings.set(id, restored)
  } else if (roll < 0.99) {
    await create('images')
  } else {
    writer.hasUnconfirmedWithdrawal = true
    await request('DELETE', '/members/me', 204)
    Object.assign(writer, createWriter(current, await insertMember(service)))
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
const repeatUnanswered = async (service: Service, writer: Writer) => {
  const { unanswered, member } = writer
  if (!unanswered) return []
  writer.unanswered = undefined
  record(writer, unanswered, await createOnce(service, member, unanswered))
  const made = await countCreated(service, member, unanswered)
  return made === 1 ? [] : [`a repeated creation in ${unanswered.kind} made ${made} rows`]
}

/** Acknowledged writes that are missing from the stores. */
const findLost = async (service: Service, writer: Writer) => {
  if (writer.hasUnconfirmedWithdrawal) return []
  const lost = await repeatUnanswered(service, writer)
  const books = await readRows(service, 'bookId, star from books', writer)
  const memos = await readRows(service, 'memoId, bookId from memos', writer)
  for (const [id, stars] of writer.books) {
    if (!books.has(id)) lost.push(`book ${id} is lost`)
    else if (!stars.includes(books.get(id) ?? -1)) lost.push(`book ${id} has the wrong stars`)
  }
  for (const id of writer.memos.keys()) if (!memos.has(id)) lost.push(`memo ${id} is lost`)
  const readings = await readRows(service, 'readingId, bookId from allReadings', writer)
  for (const id of writer.readings.keys()) if (!readings.has(id)) lost.push(`reading ${id} is lost`)
  const pages = await readRows(service, 'bookId, currentPage from books', writer)
  for (const [id, possible] of writer.pages) {
    if (!possible.includes(pages.get(id) ?? -1)) lost.push(`book ${id} has the wrong page`)
  }
  const tags = await readRows<string>(service, 'bookId, tag from bookTags join tags using (memberId, tagId)', writer)
  for (const [id, possible] of writer.tags) {
    if (!possible.includes(tags.get(id) ?? '')) lost.push(`book ${id} has the wrong tag`)
  }
  const trash = await readRows(service, 'trashId, memoCount from trash', writer)
  const findDeleted = (what: string, id: number, exists: boolean, trashId: number) => {
    if (exists) lost.push(`${what} ${id} was deleted and still exists`)
    else if (!trash.has(trashId)) lost.push(`${what} ${id} was deleted and is not in the trash`)
  }
  for (const id of writer.deletedBooks.keys()) findDeleted('book', id, books.has(id), id)
  for (const id of writer.deletedMemos) findDeleted('memo', id, memos.has(id), -id)
  await writer.copy.pull()
  const copies = {
    books: new Map(writer.copy.of('book').map(({ bookId, star }) => [bookId, star])),
    memos: new Map(writer.copy.of('memo').map(({ memoId, bookId }) => [memoId, bookId])),
  }
  if (!isDeepStrictEqual(copies, { books, memos })) lost.push('the copy differs from the library')
  for (const key of writer.images) if (!(await service.bucket.head(key))) lost.push(`image ${key} is lost`)
  return lost.map((problem) => `member ${writer.member.memberId}: ${problem}`)
}

/** Writes until the service is killed. `errors`: unexpected responses before that. */
const writeUntilKilled = async (current: Current, writers: Writer[]) => {
  let acknowledged = 0
  let isKilled = false
  const errors: string[] = []
  const work = async (writer: Writer) => {
    try {
      for (; !isKilled; acknowledged++) await write(current, writer)
    } catch (error) {
      if (!isKilled) errors.push(String(error))
    }
  }
  const working = writers.map(work)
  await setTimeout(LIFETIME_MS.min + current.draw(LIFETIME_MS.max - LIFETIME_MS.min))
  isKilled = true
  process.kill(current.service.pid, 'SIGKILL')
  await Promise.all(working)
  return { acknowledged, errors }
}

export const crashes: Attack = async ({ start, quick, seed, progress }) => {
  const times = quick ? 1 : 100
  const failures: string[] = []
  let [acknowledged, repeated, lost, mismatches] = [0, 0, 0, 0]
  const options = { data: makeFolder(), uploadsPerMinute: 100_000 }
  const current = { service: await start(options), draw: createDraw(seed) }
  const writers = (await Array.fromAsync({ length: WRITERS }, () => insertMember(current.service))).map((member) =>
    createWriter(current, member),
  )
  for (let crash = 1; crash <= times; crash++) {
    const written = await writeUntilKilled(current, writers)
    acknowledged += written.acknowledged
    failures.push(...written.errors.map((error) => `before crash ${crash}: ${error}`))
    await current.service.stop()
    current.service = await start(options)
    const { service } = current
    const found = await service.findMismatches()
    mismatches += found.length
    failures.push(...found.map((problem) => `after crash ${crash}: ${problem}`))
    repeated += writers.filter(({ unanswered }) => unanswered).length
    for (const writer of writers) {
      const missing = await findLost(service, writer)
      lost += missing.length
      failures.push(...missing.map((problem) => `after crash ${crash}: ${problem}`))
      if (writer.hasUnconfirmedWithdrawal) Object.assign(writer, createWriter(current, await insertMember(service)))
    }
    if (crash % 10 === 0) progress(`${crash} crashes, ${acknowledged} writes acknowledged`)
  }
  const { service } = current
  // Otherwise the sweep would leave claims that a kill left open for another minute.
  await service.directory.prepare(`update addresses set settleAt = 0 where state = 'CLAIMED'`).run()
  await service.runCron()
  const differences = await findDirectoryProblems(service.databases, service.addressKey)
  failures.push(...differences.map((problem) => `the directory differs from the members: ${problem}`))
  // A kill between the two steps of an upload leaves its row. Repeated with its key, the upload stores the object.
  const orphans = await findOrphans([service.database], service.bucket)
  failures.push(...orphans.objects.map((key) => `${key}: object without a row`))
  failures.push(...orphans.rows.map((key) => `${key}: row without an object`))
  await service.stop()
  return {
    figures: [
      [
        `kills of workerd with ${WRITERS} writers`,
        times,
        `${orphans.objects.length} objects without a row, ${orphans.rows.length} rows without an object`,
      ],
      ['acknowledged writes, looked up afterwards', acknowledged, `${lost} lost`],
      ['creations without an answer, repeated with their keys', repeated, 'one row each'],
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
