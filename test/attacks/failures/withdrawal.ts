// A withdrawal must leave nothing of the member, neither in the stores nor in the bytes of their files.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { idRange } from '../../../src/db/next-id'
import { toText } from '../../support/bytes'
import { statisticsFile } from '../../support/devices/statistics-file'
import { pngWithData } from '../../support/images/pictures'
import { readStores } from '../../support/stores'
import { addDevice } from '../devices/device'
import { type Attack, type Context, mergeReports, type Report } from '../harness/attack'
import type { Request } from '../harness/client'
import {
  insertMember,
  joinRequest,
  jsonRequest,
  logIn,
  type Member,
  receiveCode,
  registerBook,
  uploadRequest,
  writeMemo,
} from '../harness/members'
import { makeFolder, type Service } from '../harness/service'

/** Texts that one member stores, and that occur nowhere else. */
const tracesOf = (member: string) => ({
  email: `${member}-zanzibar@withdrawal.example`,
  name: `${member} Quixotenbaum`,
  title: `${member} reads of Wolkenkuckucksheim`,
  author: `${member} by Mnemosyne Hapax`,
  memo: `${member} remembers Xanadu's 수미산 page`,
  changed: `${member} thought better of Ultima Thule`,
  series: `${member} collects Hyperborea`,
  note: `${member} reread it in Shangri-La`,
  tag: `${member} shelves Brobdingnag`,
  image: `${member}-PIXELS-OF-ATLANTIS`,
  read: `${member} read of Avalon on a device`,
})

/** Signs up and uses every feature. */
const createActivity = async (service: Service, traces: ReturnType<typeof tracesOf>) => {
  const { email, name, title, author, memo, changed, image, series, note, tag } = traces
  const authenticationCode = await receiveCode(service, email)
  await service.request(joinRequest(email, { name, authenticationCode: '999999' }))
  await service.request(joinRequest(email, { name, authenticationCode }))
  await service.request(jsonRequest('POST', '/login', { email, password: 'wrong' }))
  const member = await logIn(service, email)
  const { token } = member
  const password = 'another-horse-8'
  service.secrets.add(password)
  const cover = `https://covers.example/${image}`
  const bookId = await registerBook(service, member, { title, author, publisher: name, cover })
  const otherBook = await registerBook(service, member, { title: `${title} again`, author })
  const memoId = await writeMemo(service, member, bookId, { memoContent: memo })
  await writeMemo(service, member, otherBook, { memoContent: memo })
  const deletedMemo = await writeMemo(service, member, otherBook, { memoContent: memo })
  await service.request(jsonRequest('PATCH', `/memos/${memoId}`, { memoContent: changed }, { token }))
  await service.request(jsonRequest('PATCH', `/books/${bookId}`, { author: changed }, { token }))
  await service.request(jsonRequest('PATCH', '/members/me', { name: `${name} II`, password }, { token }))
  await service.request({ method: 'DELETE', path: `/memos/${deletedMemo}`, token })
  const details: [method: string, path: string, body: object][] = [
    ['PATCH', `/books/${bookId}/edition`, { series, sourceIds: [`quixote:${member.memberId}`] }],
    ['POST', `/books/${bookId}/readings`, { finishedAt: '2024', note }],
    ['POST', `/books/${bookId}/readings`, { note }],
    ['POST', `/books/${bookId}/progress`, { page: 12 }],
    ['PUT', `/books/${bookId}/tags`, { tags: [tag, 'novel'] }],
    ['PUT', '/goals/2024', { metric: 'PAGES', target: 3000 }],
    ['PATCH', '/members/me', { timeZone: 'Asia/Seoul' }],
    ['PATCH', '/tags', { from: 'novel', to: `${tag} again` }],
  ]
  for (const [method, path, body] of details) {
    const { status } = await service.request(jsonRequest(method, path, body, { token }))
    if (status >= 400) throw new Error(`${method} ${path}: ${status}`)
  }
  const images: string[] = []
  for (let n = 0; n < 3; n++) {
    const { status, body } = await service.request(uploadRequest(member, pngWithData(image.repeat(20))))
    if (status !== 201) throw new Error(`The upload failed: ${status}`)
    const path = new URL(String(body)).pathname
    // The second response comes from the cache.
    for (let times = 0; times < 2; times++) await service.request({ method: 'GET', path })
    images.push(path)
  }
  const searches = ['/books/search?q=reads', '/memos/search?q=remembers', '/tags', '/authors', '/books?sort=title']
  const views = ['/books/library?page=1&size=10&bookStatus=YET', '/memos/random', '/members/me', ...searches]
  for (const path of views) await service.request({ method: 'GET', path, token })
  return { member, images }
}

/** Sends reading statistics. Not before the last code: a new token is mailed, too. */
const sendStatistics = async (service: Service, member: Member, { read, author }: ReturnType<typeof tracesOf>) => {
  const { token: device } = await addDevice(service, member)
  const statistics = statisticsFile({
    title: read,
    authors: author,
    rows: [{ start: '2026-03-01T10:00:00Z', seconds: 90 }],
  })
  const sent = { method: 'PUT', path: '/dav/statistics.sqlite3', token: device, body: statistics }
  const { status } = await service.request(sent)
  if (status !== 204) throw new Error(`The statistics failed: ${status}`)
}

/** A text in UTF-8, UTF-16 of both byte orders, hexadecimal, and base64 and base64url at each of three offsets. */
const encodings = (text: string): Buffer[] => {
  const bytes = Buffer.from(text)
  const utf16 = Buffer.from(text, 'utf16le')
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // The first and last characters share bits with what surrounds the text.
    return encoded.slice(offset === 0 ? 0 : offset + 1, -1)
  })
  const base64url = base64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_'))
  const hex = bytes.toString('hex')
  const texts = [hex, hex.toUpperCase(), ...base64, ...base64url]
  return [bytes, utf16, Buffer.from(utf16).swap16(), ...texts.map((each) => Buffer.from(each))]
}

type Match = { trace: string; name: string }

/** Finds which texts occur in which of the named contents. */
const findTraces = (contents: [name: string, bytes: Uint8Array][], traces: string[]): Match[] =>
  traces.flatMap((trace) => {
    const encoded = encodings(trace)
    return contents
      .filter(([, bytes]) => {
        const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
        return encoded.some((each) => buffer.includes(each))
      })
      .map(([name]) => ({ trace, name }))
  })

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** All files of a folder with their content. */
const readFiles = (folder: string): [string, Buffer][] =>
  listFiles(folder).map((file) => [file.slice(folder.length + 1), readFileSync(file)])

/** Runs SQL on every database in a folder. */
const runInDatabases = (folder: string, sql: string) => {
  for (const file of listFiles(folder).filter((name) => name.endsWith('.sqlite'))) {
    const database = new DatabaseSync(file)
    database.exec(sql)
    database.close()
  }
}

const countFound = (matches: Match[]) => new Set(matches.map(({ trace }) => trace)).size
const describe = ({ trace, name }: Match) => `${trace} in ${name}`

const fillLibrary = async (service: Service, { memberId }: Member, books: number) => {
  // Above the identifiers of the other members.
  const floor = idRange(service.slot).idFloor + 1000
  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)'
  const insertBooks = `${numbers} insert into books (bookId, memberId, title, createdAt)
    select ${floor} + i, ?2, 'Book ' || i, '2026-01-01T00:00:00' from n`
  const insertMemos = `${numbers}
    insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
    select ${floor} + i, ${floor + 1} + i / 5, ?2, i + 1, 'SUMMARY', 'Something worth remembering', 1, 'PRIVATE',
      '2026-01-01T00:00:00', '2026-01-01T00:00:00' from (select i - 1 as i from n)`
  await service.database.prepare(insertBooks).bind(books, memberId).run()
  await service.database
    .prepare(insertMemos)
    .bind(books * 5, memberId)
    .run()
}

/** Withdraws a member with a large library, and times the requests of another one until all rows are deleted. */
const withdrawLarge = async ({ quick, progress, start }: Context): Promise<Report> => {
  const service = await start()
  const [leaver, neighbour] = [await insertMember(service), await insertMember(service)]
  const books = quick ? 500 : 100_000
  progress(`filling a library of ${books} books and ${5 * books} memos`)
  await fillLibrary(service, leaver, books)
  const failures: string[] = []
  const time = async (request: Request, expected: number) => {
    const start = performance.now()
    const { status } = await service.request(request)
    if (status !== expected) failures.push(`${request.method} ${request.path}: ${status}`)
    return performance.now() - start
  }
  const withdrawn = await time({ method: 'DELETE', path: '/members/me', token: leaver.token }, 204)
  const countRows = () =>
    service.database
      .prepare('select count(*) from members left join books using (memberId) where memberId = ?')
      .bind(leaver.memberId)
      .first<number>('count(*)')
  let [slowest, runs, isDone] = [0, 0, false]
  const watch = async () => {
    const path = '/books/library?bookStatus=YET&page=1&size=10'
    while (!isDone) slowest = Math.max(slowest, await time({ method: 'GET', path, token: neighbour.token }, 200))
  }
  const watching = watch()
  while ((await countRows()) !== 0 && runs < 50) {
    progress(`sweep ${++runs}`)
    await service.runCron()
  }
  isDone = true
  await watching
  if ((await countRows()) !== 0) failures.push('the library of a withdrawn member is not deleted after 50 sweeps')
  const result = `${runs} sweeps; slowest request of another member meanwhile ${slowest.toFixed(0)} ms`
  return {
    figures: [
      [`withdrawal of ${books} books and ${5 * books} memos, milliseconds until 204`, Math.round(withdrawn), result],
    ],
    failures,
  }
}

const searchTraces: Attack = async ({ progress, start }) => {
  const data = makeFolder()
  const service = await start({ vars: { EMAIL_VERIFICATION: undefined }, data })
  const failures: string[] = []
  progress('creating activity')
  const [leaver, neighbour] = [tracesOf('Leaver'), tracesOf('Neighbour')]
  const { member, images } = await createActivity(service, leaver)
  const { member: other } = await createActivity(service, neighbour)
  await sendStatistics(service, member, leaver)
  await sendStatistics(service, other, neighbour)
  const traces = Object.values(leaver)
  const neighbourTraces = Object.values(neighbour)
  const stored = countFound(findTraces(await readStores(service), traces))
  if (stored < traces.length) failures.push(`only ${stored} of ${traces.length} traces are stored beforehand`)

  progress('withdrawing')
  const { status } = await service.request({ method: 'DELETE', path: '/members/me', token: member.token })
  if (status !== 204) failures.push(`the withdrawal responded ${status}`)
  await service.runCron()
  for (const path of images) {
    const image = await service.request({ method: 'GET', path })
    if (image.status !== 404) failures.push(`${path} is still served: ${image.status}`)
  }
  // Purges are repeated for an hour; attempts and settled claims are kept for a day.
  for (const database of service.databases) {
    await database.batch([
      database.prepare('update purgeJobs set createdAt = createdAt - 3600001'),
      database.prepare('update attempts set at = at - 86400001'),
      database.prepare('update settledClaims set settledAt = settledAt - 86400001'),
    ])
  }
  await service.runCron()

  const stores = await readStores(service)
  const left = findTraces(stores, traces)
  failures.push(...left.map(describe))
  const withId = stores.filter(([name, bytes]) => {
    const hasMembers =
      /^table (members|books|memos|readings|progress|tags|bookTags|authors|purgeJobs|attempts|joinCodes|addresses|settledClaims)$/.test(
        name,
      )
    return hasMembers && new RegExp(`"(?:member|claim)Id":${member.memberId}\\b`).test(toText(bytes))
  })
  failures.push(...withId.map(([name]) => `the member's id in ${name}`))
  if (countFound(findTraces(stores, neighbourTraces)) < traces.length) failures.push('another member lost data')

  progress('searching the files')
  await service.stop()
  const files = readFiles(data)
  const inLogs = findTraces(files, traces).length
  runInDatabases(data, 'pragma wal_checkpoint(truncate)')
  const checkpointed = findTraces(readFiles(data), traces).length
  // Only the platform can do this on D1.
  runInDatabases(data, 'vacuum; pragma wal_checkpoint(truncate)')
  const compacted = readFiles(data)
  const remaining = findTraces(compacted, traces)
  failures.push(...remaining.map((match) => `${describe(match)}, a file`))
  const control = countFound(findTraces(compacted, neighbourTraces))
  if (control < traces.length) failures.push(`the search finds only ${control} traces of the other member`)
  const leftBefore = `${inLogs} traces left, ${checkpointed} after a checkpoint`
  const bytes = files.reduce((sum, [, content]) => sum + content.length, 0)
  return {
    figures: [
      ['traces of a withdrawn member in all rows, objects and keys', traces.length, `${left.length} left`],
      ['files searched after the databases were vacuumed', compacted.length, `${remaining.length} traces left`],
      ['files searched before, with freed pages and write-ahead logs', files.length, leftBefore],
      ['traces of another member, as a control', traces.length, `${control} found`],
      ['bytes searched', bytes, 'in nine encodings'],
    ],
    failures,
  }
}

export const withdrawal: Attack = async (context) =>
  mergeReports(await searchTraces(context), await withdrawLarge(context))
