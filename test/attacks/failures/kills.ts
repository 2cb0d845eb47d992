// Kills workerd before and after every database call of the flows that span two databases, or a database and the bucket.
import { setTimeout } from 'node:timers/promises'
import { findDirectoryProblems } from '../../support/accounts/directory'
import { statisticsFile } from '../../support/devices/statistics-file'
import { addDevice } from '../devices/device'
import type { Attack } from '../harness/attack'
import { joinRequest, logIn, type Member, newEmail, PASSWORD, signUp } from '../harness/members'
import { makeFolder, type Options, type Service } from '../harness/service'

const ORDERS = ['before', 'after'] as const
type Halt = { call: number; order: (typeof ORDERS)[number] }

const SIGN_UPS_AT_ONCE = 50
const POLL_MS = 5
/** A flow's last calls may follow its response. */
const AFTER_RESPONSE_MS = 250
/** More than any flow makes, except a sweep with many purge jobs. */
const MAX_CALLS = 40

const haltAt = (service: Service, halt: Halt | null) =>
  service.request({ method: 'GET', path: '/', headers: `X-Halt: ${JSON.stringify(halt)}\r\n` })

/** Runs a flow until it halts at a call, and kills the service. Returns false if the flow ends before that call. */
const killAt = async (service: Service, halt: Halt, flow: () => Promise<unknown>) => {
  await haltAt(service, halt)
  const outcome = { isOver: false }
  const end = () => {
    outcome.isOver = true
  }
  const running = flow().then(end, end)
  const isHalted = () => service.lines.includes('halted')
  while (!outcome.isOver && !isHalted()) await setTimeout(POLL_MS)
  if (!isHalted()) await setTimeout(AFTER_RESPONSE_MS)
  if (isHalted()) process.kill(service.pid, 'SIGKILL')
  else await haltAt(service, null)
  await running
  return isHalted()
}

/** Settles open claims as if their deadline had passed. */
const sweepLater = async (service: Service) => {
  await service.directory.prepare(`update addresses set settleAt = 0 where state = 'CLAIMED'`).run()
  await service.runCron()
}

const join = async (service: Service, email: string) => (await service.request(joinRequest(email))).status

const STATISTICS = statisticsFile({ title: 'Demian', rows: [{ start: '2026-03-01T10:00:00Z', seconds: 90 }] })
const createUpload = async (service: Service, member: Member) => {
  const { token } = await addDevice(service, member)
  return () => service.request({ method: 'PUT', path: '/dav/statistics.sqlite3', token, body: STATISTICS })
}
/** Whether the file counts once when it is sent again. */
const inspectStatistics = async (service: Service, email: string) => {
  const member = await logIn(service, email)
  const { status } = await (await createUpload(service, member))()
  const { body } = await service.request({ method: 'GET', path: '/documents', token: member.token })
  const minutes = (body as { item: { minutes: number }[] }).item.map((document) => document.minutes)
  return status === 204 && minutes.join() === '2' ? [] : [`the file that was sent again: ${status}, minutes ${minutes}`]
}

type Flow = {
  name: string
  /** Prepares the flow, and returns it. */
  prepare: (service: Service, email: string) => Promise<() => Promise<unknown>>
  /** The calls to try, if not all. */
  calls?: number[]
  /** What else is wrong after the restart. */
  inspect?: (service: Service, email: string) => Promise<string[]>
}

const FLOWS: Flow[] = [
  { name: 'a sign-up', prepare: async (service, email) => () => join(service, email) },
  {
    name: `${SIGN_UPS_AT_ONCE} sign-ups at once`,
    prepare: async (service, email) => () =>
      Promise.allSettled(Array.from({ length: SIGN_UPS_AT_ONCE }, () => join(service, email))),
    calls: [1, 2, SIGN_UPS_AT_ONCE, SIGN_UPS_AT_ONCE + 1, SIGN_UPS_AT_ONCE + 2],
  },
  {
    name: 'a withdrawal',
    prepare: async (service, email) => {
      const { token } = await signUp(service, email)
      return () => service.request({ method: 'DELETE', path: '/members/me', token })
    },
  },
  {
    name: 'an upload of reading statistics',
    prepare: async (service, email) => createUpload(service, await signUp(service, email)),
    inspect: inspectStatistics,
  },
  {
    name: 'a deletion of reading statistics',
    prepare: async (service, email) => {
      const member = await signUp(service, email)
      await (await createUpload(service, member))()
      return () => service.request({ method: 'DELETE', path: '/documents/statistics', token: member.token })
    },
    inspect: inspectStatistics,
  },
  {
    name: 'a sweep that settles a claim without a member',
    prepare: async (service, email) => {
      await openClaim(service, email)
      return () => sweepLater(service)
    },
  },
]

/** Leaves a claim as a sign-up that ended after its first call does. */
const openClaim = async (service: Service, email: string) => {
  await signUp(service, email)
  await service.database.prepare('delete from members where email = ?').bind(email).run()
  await service.directory
    .prepare(`update addresses set state = 'CLAIMED', settleAt = 0 where memberId in (
    select lastClaimId from slotCounters)`)
    .run()
}

/** What is wrong after the restart: the address must have its member, or be free. */
const inspect = async (service: Service, email: string) => {
  const problems: string[] = []
  await sweepLater(service)
  problems.push(...(await findDirectoryProblems(service.databases, service.addressKey)))
  const mismatches = await service.findMismatches()
  problems.push(...mismatches)
  const status = await join(service, email)
  if (status !== 201 && status !== 409) problems.push(`a sign-up with the address: ${status}`)
  await logIn(service, email, PASSWORD).catch((error) => problems.push(`the member cannot log in: ${error.message}`))
  problems.push(...(await findDirectoryProblems(service.databases, service.addressKey)))
  return problems
}

export const kills: Attack = async ({ start, quick, slots, progress }) => {
  const options: Options = { entry: 'test/attacks/workers/halting.ts', slots: Math.max(2, slots), data: makeFolder() }
  const failures: string[] = []
  const figures: [string, number, string][] = []
  let service = await start(options)
  const flows = quick ? FLOWS.filter(({ name }) => /^a (?:sign-up|withdrawal)$/.test(name)) : FLOWS
  for (const { name, prepare, calls, inspect: inspectFurther = async () => [] } of flows) {
    let killed = 0
    const wanted = calls ?? Array.from({ length: MAX_CALLS }, (_, at) => at + 1)
    const kill = async (halt: Halt) => {
      const email = newEmail()
      const flow = await prepare(service, email)
      const isHalted = await killAt(service, halt, flow)
      if (isHalted) {
        killed += 1
        await service.stop()
        service = await start(options)
      }
      const problems = [...(await inspect(service, email)), ...(await inspectFurther(service, email))]
      failures.push(...problems.map((problem) => `${name}, killed ${halt.order} call ${halt.call}: ${problem}`))
      return isHalted
    }
    for (const call of quick ? wanted.slice(0, 1) : wanted) {
      const halted = [await kill({ call, order: 'before' }), await kill({ call, order: 'after' })]
      if (!halted.some(Boolean)) break
    }
    progress(`${name}: killed ${killed} times`)
    figures.push([`SIGKILL before and after each call of ${name}`, killed, `${failures.length} failures so far`])
  }
  await service.stop()
  return { figures, failures }
}
