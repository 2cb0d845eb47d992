// Random histories of three devices that run the reference client and of a writer without sync. Requests and answers are lost or
// late, apps are killed, a replica lags, the log is trimmed, and the database is restored. Then everything comes to rest, each copy
// must equal the library, and the member withdraws.
import { setTimeout } from 'node:timers/promises'
import { isCreation, type Kept, type Write } from '../../../docs/offline-client'
import { isBookDeletion } from '../../../docs/offline-shape'
import { act, changeUnanswered, expectKilled, interfere, pick, type Scope } from './actions'
import { ofCopy, ofExport, type Value } from './comparable'
import { type CreateClient, createDevice, type Device } from './devices'
import { createDraw, type Draw } from './draw'
import { createNetwork, type History, type Member, type Network, type Sent } from './network'

const DEVICES = 3
const DAY_MS = 86_400_000
/** Longer than the service keeps keys. */
const ABSENCE_MS = 401 * DAY_MS
/** The slowest purge is that of a machine with other load. */
const PURGE_MS = 120_000

/** Of texts: three quarters of what the member has, or the default. Each further deletion evicts from the trash, and creations fail. */
const SET_QUOTA = 'update members set maxTextBytes = iif(?2, textBytes * 3 / 4, null) where memberId = ?1'

/** A history while it runs. `late`: requests that have left a device and not arrived. */
type Course = {
  member: Member
  network: Network
  draw: Draw
  hasReplica: boolean
  late: Sent[]
  /** `tags`: only devices write, and no row comes back from earlier. */
  scope: Scope
  /** How far the clocks of devices are ahead, in milliseconds. */
  clock: number
  step: number
}

const executePage = async ({ network, draw, hasReplica, scope, step }: Course, sent: Sent) => {
  const { execute, known, history } = network
  const fate = draw(8)
  if (fate === 0 && scope !== 'tags') {
    history.faults['requests beside another writer'] += 1
    const [response] = await Promise.all([execute(sent), interfere(network, draw, step, scope)])
    return response
  }
  if (fate > 4 || !hasReplica || !sent.path.includes('cursor=')) return execute(sent)
  history.faults['pages from a lagging replica'] += 1
  return execute(sent, { 'X-D1-Bookmark': known.bookmark })
}

/** Answers a write, and checks that the device shows the answered values. */
const answerWrite = async ({ app, name, outbox }: Device, { history }: Network, write: Write, response: Response) => {
  const row =
    response.status < 300 && response.status !== 204 && !write.part ? await response.clone().json() : undefined
  await app.answer(response)
  if (!row || write.kind === 'image' || outbox().some(({ done, seq }) => !done && seq !== write.seq)) return
  const shown = await app.client.get(write.kind, isCreation(write) ? write.key : write.id).catch(expectKilled)
  // After a restore, the service can have an object whose deletion was pulled.
  if (app.isKilled() || (!shown && !isCreation(write))) return
  for (const [field, sent] of Object.entries(write.body ?? {})) {
    const [seen, answered] = [shown?.value[field], (row as Value)[field]]
    // Except for memos, the service may return a value in another form, such as the name of a status.
    if (seen === answered || (seen === sent && write.kind !== 'memo')) continue
    history.problems.push(`${name} shows ${field} ${seen} after the answer ${answered}`)
  }
}

/** Pushes or pulls on, as the network lets a device. */
const proceed = async (device: Device, course: Course) => {
  const { app } = device
  const { network, draw, late, scope, step } = course
  const { execute, history } = network
  const sent = app.pending()
  if (!sent) return app.sync()
  const fate = draw(20)
  if (fate === 0) {
    history.faults['lost requests'] += 1
    return app.answer(undefined)
  }
  if (fate === 1) {
    history.faults['lost answers'] += 1
    const response = await execute(sent)
    await app.answer(undefined)
    if (response.status !== 201 || sent.write?.kind !== 'memo' || scope === 'tags') return
    const { memoId } = (await response.json()) as { memoId: number }
    return changeUnanswered(device, network, draw, step, { memoId, key: sent.write.key })
  }
  if (!sent.write) return app.answer(await executePage(course, sent))
  if (fate === 2) {
    history.faults['late requests'] += 1
    late.push(sent)
    return app.answer(undefined)
  }
  if (fate === 3) {
    history.faults['requests whose second database call fails'] += 1
    return app.answer(await execute(sent, { 'X-Fail-After': '1' }))
  }
  return answerWrite(device, network, sent.write, await execute(sent))
}

/** Without faults, until nothing is left to send and the pull has ended. */
const settle = async ({ app, name }: Device, { execute, history }: Network) => {
  await app.sync()
  for (let requests = 0; app.isSyncing(); requests++) {
    const sent = app.pending()
    if (!sent || requests > 2000) {
      history.problems.push(`${name} does not come to rest`)
      return
    }
    await app.answer(await execute(sent))
  }
  if (app.error()) history.problems.push(`${name} at rest: ${app.error()}`)
}

const TRIM = `delete from changes where memberId = ?1
  and seq < (select max(seq) from changes where memberId = ?1) + 1 - ?2`

/** Whether a write took no effect, and repeating it would not help. */
const isRefused = (write: Kept) => {
  const { method, answer, body } = write
  if (!answer) return true
  const { status } = answer
  const memo = answer.body.memo as Value | undefined
  if (status === 412 && method === 'PATCH')
    return Object.entries(body ?? {}).some(([key, value]) => memo?.[key] !== value)
  if (status === 404) return method !== 'DELETE'
  if (status === 410) return !isCreation(write)
  return status < 500 && ![401, 408, 429].includes(status)
}

const expectRest = async (device: Device, network: Network, library: ReturnType<typeof ofExport>) => {
  const { history, applied } = network
  const report = (problem: string) => history.problems.push(`${device.name}: ${problem}`)
  const lists = Object.fromEntries(
    await Promise.all(
      (['book', 'memo', 'reading', 'tag'] as const).map(async (kind) => {
        const list = await device.app.client.list(kind)
        return [kind, list.map(({ value }) => value)] as const
      }),
    ),
  )
  const copy = ofCopy((kind) => lists[kind] ?? [])
  const toText = (value: unknown) =>
    JSON.stringify(value, (_, each) =>
      each && typeof each === 'object' && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).sort()) : each,
    )
  for (const part of ['books', 'tags', 'orphans'] as const) {
    if (toText(copy[part]) !== toText(library[part])) {
      report(`its ${part} are ${toText(copy[part])}, the export has ${toText(library[part])}`)
    }
  }
  const kept = new Set(device.kept().map(({ key }) => key))
  for (const write of device.outbox()) report(`${write.method} of a ${write.kind} was not sent`)
  const isDropped = (key: string) => {
    const deletion = device.dropped.get(key)
    // That of a book that was never sent was not sent either.
    return deletion !== undefined && (applied.has(deletion) || !device.made.has(deletion))
  }
  for (const key of device.made)
    if (!applied.has(key) && !kept.has(key) && !isDropped(key)) report(`its write ${key} is lost`)
  for (const write of device.kept()) {
    if (!isRefused(write)) report(`it keeps ${write.method} of a ${write.kind}, answered ${write.answer?.status}`)
  }
  history.writes += device.made.size
  history.kept += kept.size
  history.reached['deletions kept for the user'] += device.kept().filter(isBookDeletion).length
}

/** Where only devices write: whatever was created is there, or was deleted by a user who had seen it. */
const expectAccounted = ({ history, checks, ids }: Network, library: ReturnType<typeof ofExport>) => {
  const left = new Set(library.books.flatMap(({ memos }) => (memos as Value[]).map(({ memoId }) => memoId)))
  for (const id of ids.memo)
    if (!left.has(id) && !checks.gone.has(id)) history.problems.push(`memo ${id} is gone without a line`)
}

/** What one action on a device created, which no other text equals. */
const CREATED = /"(?:(?:Book|Memo|Note) \d+)"/g
const expectNoDuplicates = ({ history }: Network, library: object) => {
  for (const [text, { length }] of Map.groupBy(JSON.stringify(library).match(CREATED) ?? [], (text) => text)) {
    if (length > 1) history.problems.push(`${text} was created ${length} times`)
  }
}

/** The member withdraws on another device. What has not been sent stays on this one, and nothing in the database. */
const withdraw = async ({ app, outbox, name }: Device, { memberId, database, states }: Member, network: Network) => {
  const { history, call, execute } = network
  const key = await app.client.create('book', { title: 'Not sent' })
  const { status } = await call('DELETE', '/members/me')
  if (status !== 204) history.problems.push(`the withdrawal: ${status}`)
  await app.sync()
  const sent = app.pending()
  if (sent) await app.answer(await execute(sent))
  if (!app.error() || outbox().every((write) => write.key !== key)) {
    history.problems.push(`${name} lost what it had not sent before the withdrawal`)
  }
  const isPurged = async () =>
    (await database.prepare('select 1 from members where memberId = ?').bind(memberId).first()) === null
  for (const start = Date.now(); !(await isPurged()) && Date.now() < start + PURGE_MS; ) await setTimeout(20)
  if (!(await states.isEmpty(memberId))) history.problems.push('the withdrawal left rows')
}

/** What happens to the database, and to the devices if they are off line for years. */
const createEvents = (course: Course, devices: Device[]) => {
  const { network, draw, hasReplica, late } = course
  const { memberId, database, states, replica, skip } = course.member
  const { known, history, applied } = network
  type Saved = { state: Awaited<ReturnType<typeof states.read>>; rows: typeof known.rows; applied: Set<string> }
  let saved: Saved | undefined
  const refreshReplica = async () => hasReplica && replica.write(memberId, await states.read(memberId))
  return {
    refreshReplica,
    trimLog: async () => {
      history.faults['trimmed logs'] += 1
      await database.prepare(TRIM).bind(memberId, draw(4)).run()
    },
    save: async () => {
      saved = { state: await states.read(memberId), rows: new Map(known.rows), applied: new Set(applied) }
    },
    restore: async () => {
      if (!saved) return
      history.faults.restores += 1
      await states.write(memberId, saved.state, skip)
      await refreshReplica()
      known.rows = new Map(saved.rows)
      // What devices have no answer to, they send again.
      const unanswered = devices.flatMap(({ outbox }) => outbox()).filter(({ done }) => !done)
      for (const { key } of unanswered) if (!saved.applied.has(key)) applied.delete(key)
    },
    setQuota: async () => {
      const isSmall = draw(4) === 0
      if (isSmall) history.faults['quotas below what is stored'] += 1
      await database.prepare(SET_QUOTA).bind(memberId, isSmall).run()
    },
    forgetKeys: async () => {
      if (course.clock === 0) return
      history.faults['years without a connection'] += 1
      for (const { app } of devices) {
        const sent = app.pending()
        if (sent && draw(3) > 0) await network.execute(sent)
        await app.answer(undefined)
      }
      late.length = 0
      course.clock = 0
      await database.prepare('delete from idempotencyKeys where memberId = ?').bind(memberId).run()
    },
  }
}

/** Runs the history of a new member that a seed draws. `only`: of this scope. */
export const runHistory = async (
  member: Member,
  seed: number,
  createClient: CreateClient,
  only?: Scope,
): Promise<History> => {
  const draw = createDraw(seed)
  const network = createNetwork(member)
  const { history, call } = network
  const late: Sent[] = []
  const clock = draw(4) === 0 ? -ABSENCE_MS : 0
  const scope = only ?? (['all', 'all', 'tags', 'trash'] as const)[draw(4)] ?? 'all'
  const course: Course = { member, network, draw, hasReplica: draw(2) === 0, late, scope, clock, step: 0 }
  const devices = Array.from({ length: DEVICES }, (_, n) => {
    const size = [1, 5, 100][draw(3)] ?? 1
    return createDevice(network, `device ${n}`, { size, now: () => Date.now() + course.clock, createClient })
  })
  const restart = (device: Device) => {
    const sent = device.app.pending()
    if (sent?.write && draw(2)) late.push(sent)
    device.app = device.start()
  }
  const events = createEvents(course, devices)
  if (scope === 'tags') history.reached['histories of tags, memos and deletions only'] += 1
  await events.refreshReplica()
  for (const steps = 60 + draw(120); course.step < steps; course.step++) {
    const device = pick(draw, devices) as Device
    const roll = draw(20)
    if (roll < 5) await act(device, network, draw, course.step, scope)
    else if (roll < (scope === 'trash' ? 11 : 15)) await proceed(device, course)
    else if (roll < 17)
      await (scope === 'tags' ? proceed(device, course) : interfere(network, draw, course.step, scope))
    else if (roll === 17 && late.length > 0) await network.execute(late.splice(draw(late.length), 1)[0] as Sent)
    else if (roll === 18 && draw(3) === 0) device.app.kill(draw(8))
    else if (roll === 19) await pick(draw, scope === 'tags' ? [events.trimLog] : Object.values(events))?.()
    if (device.app.isKilled()) {
      history.faults['killed apps'] += 1
      restart(device)
    }
  }
  for (const sent of late) await network.execute(sent)
  for (const device of devices) {
    restart(device)
    await settle(device, network)
  }
  for (const device of devices) await settle(device, network)
  const library = ofExport((await call('GET', '/export')).body, (await call('GET', '/tags')).body)
  for (const device of devices) await expectRest(device, network, library)
  expectNoDuplicates(network, library)
  if (scope === 'tags') expectAccounted(network, library)
  await network.ledger.check()
  await withdraw(devices[0] as Device, member, network)
  return history
}
