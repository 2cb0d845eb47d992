// Kills workerd, again and again, while members write over real sockets; then looks for what was lost or torn.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { findMismatches, findOrphans } from '../../scripts/integrity'
import { type Member, signUp, upload, withJson } from './members'
import type { Part } from './part'
import type { Service } from './service'

const WRITERS = 16
const LIFE_MS = [150, 600] as const

/** What a writer was told, and what it was told nothing of: that may have been done, or not. */
type Writer = {
  member: Member
  /** The stars of each book; two where a change was cut off. */
  books: Map<number, number[]>
  memos: Map<number, number>
  goneBooks: Set<number>
  goneMemos: Set<number>
  images: string[]
  unsure: { books: Set<number>; memos: Set<number>; added: number; withdrawal: boolean }
}

const newWriter = (member: Member): Writer => ({
  member,
  books: new Map(),
  memos: new Map(),
  goneBooks: new Set(),
  goneMemos: new Set(),
  images: [],
  unsure: { books: new Set(), memos: new Set(), added: 0, withdrawal: false },
})

const PICTURE = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

const pick = <T>(all: Iterable<T>): T | undefined => {
  const list = [...all]
  return list[Math.floor(Math.random() * list.length)]
}

/** One write; what it was told is noted, and what it was not told is unsure. Answers whether it was acknowledged. */
const write = async (service: Service, writer: Writer): Promise<void> => {
  const { member, books, memos, unsure } = writer
  const { token } = member
  const roll = Math.random()
  const bookId = pick(books.keys())
  const memoId = pick(memos.keys())
  const ask = async (method: string, path: string, status: number, body?: unknown) => {
    const answer = await service.ask(
      body === undefined ? { method, path, token } : withJson(method, path, body, { token }),
    )
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status}`)
    return answer.body as Record<string, number>
  }
  if (roll < 0.3 || bookId === undefined) {
    unsure.added += 1
    const { bookId: added } = await ask('POST', '/books', 201, { title: 'Written' })
    unsure.added -= 1
    books.set(Number(added), [0])
  } else if (roll < 0.55) {
    unsure.added += 1
    const { memoId: added } = await ask('POST', `/memos?bookId=${bookId}`, 201, { memoBookPage: 1, memoContent: 'x' })
    unsure.added -= 1
    memos.set(Number(added), bookId)
  } else if (roll < 0.75) {
    const star = Math.floor(Math.random() * 6)
    books.set(bookId, [...(books.get(bookId) ?? []), star])
    await ask('PATCH', `/books/${bookId}`, 200, { star, bookStatus: star % 3 })
    books.set(bookId, [star])
  } else if (roll < 0.85 && memoId !== undefined) {
    unsure.memos.add(memoId)
    memos.delete(memoId)
    await ask('DELETE', `/memos/${memoId}`, 204)
    unsure.memos.delete(memoId)
    writer.goneMemos.add(memoId)
  } else if (roll < 0.9) {
    unsure.books.add(bookId)
    books.delete(bookId)
    for (const [memo, of] of memos) if (of === bookId) memos.delete(memo)
    await ask('DELETE', `/books/${bookId}`, 204)
    unsure.books.delete(bookId)
    writer.goneBooks.add(bookId)
  } else if (roll < 0.99) {
    const { status, body } = await service.ask(upload(member, PICTURE))
    if (status !== 201) throw new Error(`upload: ${status}`)
    writer.images.push(new URL(String(body)).pathname.slice(1))
  } else {
    unsure.withdrawal = true
    await ask('DELETE', '/members/me', 204)
    Object.assign(writer, newWriter(await signUp(service)))
  }
}

const idsOf = async ({ database }: Service, table: 'books' | 'memos', { member }: Writer) => {
  const [id, star] = table === 'books' ? ['bookId', 'star'] : ['memoId', '0']
  const { results } = await database
    .prepare(`select ${id} as id, ${star} as star from ${table} where memberId = ?`)
    .bind(member.memberId)
    .all<{ id: number; star: number }>()
  return new Map(results.map(({ id, star }) => [id, star]))
}

/** What a writer was told, and is not so; nothing, when all is well. */
const findLost = async (service: Service, writer: Writer): Promise<string[]> => {
  const { member, unsure } = writer
  if (unsure.withdrawal) return []
  const [books, memos] = [await idsOf(service, 'books', writer), await idsOf(service, 'memos', writer)]
  const lost: string[] = []
  for (const [id, stars] of writer.books) {
    if (!books.has(id)) lost.push(`book ${id} is lost`)
    else if (!stars.includes(books.get(id) ?? -1)) lost.push(`book ${id} has not the stars it was given`)
  }
  for (const id of writer.memos.keys()) if (!memos.has(id)) lost.push(`memo ${id} is lost`)
  for (const id of writer.goneBooks) if (books.has(id)) lost.push(`book ${id} is there, and was deleted`)
  for (const id of writer.goneMemos) if (memos.has(id)) lost.push(`memo ${id} is there, and was deleted`)
  for (const key of writer.images) if (!(await service.bucket.head(key))) lost.push(`image ${key} is lost`)
  return lost.map((each) => `member ${member.memberId}: ${each}`)
}

/** Writes until the service is killed; answers how many writes were acknowledged, and what was answered oddly. */
const writeUntilKilled = async (service: Service, writers: Writer[]) => {
  let acknowledged = 0
  let isKilled = false
  const odd: string[] = []
  const work = async (writer: Writer) => {
    while (!isKilled) {
      try {
        await write(service, writer)
        acknowledged += 1
      } catch (error) {
        if (!isKilled) odd.push(String(error))
        return
      }
    }
  }
  const working = writers.map(work)
  await setTimeout(LIFE_MS[0] + Math.random() * (LIFE_MS[1] - LIFE_MS[0]))
  isKilled = true
  process.kill(service.pid, 'SIGKILL')
  await Promise.all(working)
  return { acknowledged, odd }
}

export const crashes: Part = async ({ start, quick, progress }) => {
  const data = mkdtempSync(join(tmpdir(), 'reading-library-crashes-'))
  const times = quick ? 5 : 100
  const failures: string[] = []
  let acknowledged = 0
  let recounts = 0
  let lost = 0
  let orphans = 0
  let torn = 0
  try {
    let service = await start({ data, uploads: 100_000 })
    const writers: Writer[] = []
    for (let n = 0; n < WRITERS; n++) writers.push(newWriter(await signUp(service)))
    for (let crash = 1; crash <= times; crash++) {
      const told = await writeUntilKilled(service, writers)
      acknowledged += told.acknowledged
      failures.push(...told.odd.map((odd) => `before crash ${crash}: ${odd}`))
      await service.stop()
      service = await start({ data, uploads: 100_000 })
      for (const { table, id, field } of await findMismatches(service.database)) {
        torn += 1
        failures.push(`after crash ${crash}: ${field} of ${table} ${id} disagrees`)
      }
      recounts += 1
      for (const writer of writers) {
        const found = await findLost(service, writer)
        lost += found.length
        failures.push(...found.map((each) => `after crash ${crash}: ${each}`))
        if (writer.unsure.withdrawal) Object.assign(writer, newWriter(await signUp(service)))
      }
      if (crash % 10 === 0) progress(`${crash} crashes, ${acknowledged} writes acknowledged`)
    }
    await service.sweep()
    const ownerless = await findOrphans(service.database, service.bucket)
    orphans = ownerless.length
    failures.push(...ownerless.map((key) => `${key}: nobody owns this object`))
    await service.stop()
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
  return {
    figures: [
      { tried: `kills of workerd under ${WRITERS} writers`, times, found: `${orphans} objects without an owner` },
      { tried: 'writes acknowledged, and looked for afterwards', times: acknowledged, found: `${lost} lost` },
      { tried: 'recounts after a restart', times: recounts, found: `${torn} disagreements` },
    ],
    failures,
  }
}
