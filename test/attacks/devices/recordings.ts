// The requests that apps sent, byte for byte, with answers that they accept.
import { readFileSync } from 'node:fs'
import { createTags } from '../../support/devices/recorded-tags'
import type { HttpResponse } from '../../support/service/http-client'
import { waitForImports } from '../../support/stores'
import type { Context, Report } from '../harness/attack'
import { insertMember, type Member, registerBook } from '../harness/members'
import { makeFolder, type Service } from '../harness/service'
import { addDevice, type Device, openConnection, type Recorded, strangeDevice, toBytes } from './device'

const RECORDED: Recorded[] = readFileSync('test/fixtures/devices/requests.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const NETWORK = '192.0.2.30'

const statusesOf = ({ acceptedAnswer }: Recorded) =>
  acceptedAnswer.status === 415 ? [415, 422] : [acceptedAnswer.status]

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
/** Whether a value has all that another one has, of the same types. */
const hasShapeOf = (found: unknown, expected: unknown): boolean => {
  // Of the same highlights again, no book is listed.
  if (Array.isArray(expected)) return Array.isArray(found) && found.every((item) => hasShapeOf(item, expected[0]))
  if (!isObject(expected)) return typeof found === typeof expected
  return isObject(found) && Object.entries(expected).every(([name, value]) => hasShapeOf(found[name], value))
}

/** What is wrong with an answer. */
const findFaults = (recorded: Recorded, { status, head, body }: HttpResponse) => {
  const { acceptedAnswer } = recorded
  const type = /\r\ncontent-type: *([^;\r]+)/i.exec(head)?.[1]
  if (!statusesOf(recorded).includes(status)) return `${status}, not ${acceptedAnswer.status}: ${body.slice(0, 200)}`
  if (acceptedAnswer.type === 'application/json') {
    if (type !== 'application/json') return `the type is ${type}`
    const expected = JSON.parse(acceptedAnswer.body)
    const found = JSON.parse(Buffer.from(body, 'latin1').toString())
    if (!hasShapeOf(found, expected)) return `its body is ${body.slice(0, 200)}`
    // A device takes `{}` for a document that no other device has pushed.
    if (acceptedAnswer.body === '{}' && Object.keys(found).length > 0) return `its body is not {}, but ${body}`
  }
  if (acceptedAnswer.type === 'application/xml' && !/<d:response>.*<d:href>\/dav\/<\/d:href>/s.test(body))
    return `its body is ${body.slice(0, 200)}`
  if (status === 422 && body.trim() === '') return 'no sentence says why'
  return undefined
}

type Devices = { own: Device; other: Device; stranger: Device }
/** The device that sends a request: its answer says whether it is known, and whether another one has pushed. */
const senderOf = ({ client, method, url, acceptedAnswer }: Recorded, { own, other, stranger }: Devices) => {
  if (acceptedAnswer.status === 401) return stranger
  const isReadest = client === 'Readest'
  const isOfOther = method === 'GET' && url.includes('/syncs/progress/') && acceptedAnswer.body !== '{}'
  return isReadest === isOfOther ? own : other
}

const prepare = async (service: Service) => {
  const member = await insertMember(service)
  const [own, other] = [await addDevice(service, member), await addDevice(service, member)]
  return { member, devices: { own, other, stranger: strangeDevice(own) } }
}

const sendAll = async (service: Service, devices: Devices) => {
  const connection = openConnection(service.url)
  const failures: string[] = []
  const { answered, replaceIn } = createTags()
  for (const [line, recorded] of RECORDED.entries()) {
    const response = await connection.send(toBytes(replaceIn(recorded), senderOf(recorded, devices), NETWORK))
    answered(/\r\netag: *(\S+)/i.exec(response.head)?.[1])
    const fault = findFaults(recorded, response)
    if (fault) failures.push(`line ${line + 1}, ${recorded.client}, ${recorded.method} ${recorded.url}: ${fault}`)
  }
  connection.close()
  await waitForImports(service.databases)
  return failures
}

const countMemos = async ({ database }: Service, { memberId }: Member) =>
  Number(await database.prepare('select count(*) as n from memos where memberId = ?').bind(memberId).first('n'))

const findPush = () => {
  const push = RECORDED.find(({ method, acceptedAnswer }) => method === 'PUT' && acceptedAnswer.status === 200)
  if (!push || typeof push.body !== 'string') throw new Error('No push was recorded')
  return { ...push, position: JSON.parse(push.body) as Record<string, unknown> }
}

/** A device sends its queue at once, and takes every answer as a success. */
const replay = async (service: Service, member: Member, device: Device, count: number) => {
  const { position, ...push } = findPush()
  await registerBook(service, member, { title: 'Replayed', author: 'Ana Ruiz', itemPage: 1000, bookStatus: 'ING' })
  const connection = openConnection(service.url)
  const statuses: number[] = []
  for (let n = 0; n < count; n++) {
    const metadata = { title: 'Replayed', authors: 'Ana Ruiz', filename: 'a.epub' }
    const body = JSON.stringify({ ...position, document: 'a'.repeat(32), percentage: (n + 1) / 1000, metadata })
    statuses.push((await connection.send(toBytes({ ...push, body }, device, NETWORK))).status)
  }
  connection.close()
  const select = service.database.prepare('select currentPage from books where memberId = ? and title = ?')
  return {
    refused: statuses.filter((status) => status !== 200).length,
    page: await select.bind(member.memberId, 'Replayed').first('currentPage'),
  }
}

/** The server is down, and back: what was pushed is there, and the next push is taken. */
const restart = async ({ start }: Context) => {
  const data = makeFolder()
  const first = await start({ data })
  const { devices } = await prepare(first)
  const { position, ...push } = findPush()
  const bytes = toBytes(push, devices.own, NETWORK)
  await openConnection(first.url).send(bytes)
  await first.stop()
  const down = await openConnection(first.url)
    .send(bytes)
    .then(
      () => 'answered',
      () => 'down',
    )
  const second = await start({ data })
  const connection = openConnection(second.url)
  const pull = { ...push, method: 'GET', url: `/koreader/syncs/progress/${position.document}`, body: '' }
  const pulled = await connection.send(toBytes(pull, devices.other, NETWORK))
  const again = await connection.send(toBytes(push, devices.own, NETWORK))
  connection.close()
  const isSame = JSON.parse(pulled.body).progress === position.progress
  return [
    ...(down === 'down' ? [] : ['a stopped service answers']),
    ...(isSame ? [] : [`after a restart, the position is ${pulled.body}`]),
    ...(again.status === 200 ? [] : [`after a restart, a push gets ${again.status}`]),
  ]
}

export const sendRecordings = async (context: Context): Promise<Report> => {
  const { quick, start, progress } = context
  const service = await start()
  progress(`${RECORDED.length} recorded requests, twice`)
  const { member, devices } = await prepare(service)
  const failures = await sendAll(service, devices)
  const memos = await countMemos(service, member)
  // Once more as other devices, to which no document is known.
  const others = await prepare(service)
  failures.push(...(await sendAll(service, others.devices)))
  if (memos === 0) failures.push('no highlight became a memo')
  const read = await service.database.prepare('select sum(seconds) as n from sittings').first<number>('n')
  if (!read) failures.push('no statistics became reading time')
  const repeated = await service.database
    .prepare(
      'select count(*) as n from (select 1 from memos group by memberId, bookId, memoContent having count(*) > 1)',
    )
    .first<number>('n')
  if (repeated) failures.push(`${repeated} highlights were added more than once`)

  const count = quick ? 30 : 200
  progress(`a queue of ${count} pushes`)
  const { refused, page } = await replay(service, member, devices.own, count)
  if (refused > 0) failures.push(`${refused} of ${count} pushes of a queue were refused`)
  if (page !== count) failures.push(`after a queue, the page is ${page}`)
  progress('a restart')
  const lost = await restart(context)
  failures.push(...lost, ...(await service.findMismatches()))
  return {
    figures: [
      [
        'recorded requests of apps',
        2 * RECORDED.length,
        `${failures.length} with an answer that the app does not accept`,
      ],
      ['pushes of a queue at once', count, `${refused} refused`],
      ['pushes before and after a restart', 2, `${lost.length} lost`],
    ],
    failures,
  }
}
