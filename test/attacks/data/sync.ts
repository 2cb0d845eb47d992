// Random histories of devices that work offline, after which each must have the member's library, and no write may be lost.
//   HISTORIES=200 OFFLINE_CLIENT=/path/of/a/client.ts npm run attack -- sync      # as many, with another client
//   FROM=93 HISTORIES=94 npm run attack -- sync --seed 7      # only history 70093
//   HISTORIES=1000 SCOPE=tags npm run attack -- sync      # in which devices only tag, write memos, and delete; nobody else writes
//   HISTORIES=1000 SCOPE=trash npm run attack -- sync      # in which others mostly delete, merge, import, undo and restore
// Such a client stores its writes like docs/offline-client.ts: as `Write` under outbox/ until they are done, or as `Kept` under kept/.
import { resolve } from 'node:path'
import { findMismatches } from '../../../scripts/data/integrity'
import { skipQueries } from '../../../scripts/slots/skip-ids'
import { repeatUnsent } from '../../../scripts/wrangler/repeat-unsent'
import { insertMemberAt } from '../../support/home'
import { KINDS_OF_CASES } from '../../support/sync/checks'
import type { CreateClient } from '../../support/sync/devices'
import { runHistory } from '../../support/sync/histories'
import { LEDGER } from '../../support/sync/ledger'
import { type History, KINDS_OF_FAULTS, type Member } from '../../support/sync/network'
import { openStates } from '../../support/sync/states'
import { wrapDatabase } from '../../support/wrap-database'
import { type Attack, concurrently } from '../harness/attack'
import { toLines } from '../harness/client'
import { newEmail } from '../harness/members'
import { JWT_SECRET, type Service } from '../harness/service'

/** Members at the same time, in two slots. */
const LANES = 8
const NO_CONTENT = 204
/** Histories of a full run. */
const MOST = 10_000
/** Then the service is faulty, and further histories tell no more. */
const MAX_FAILURES = 20

/**
 * workerd closes connections that it has read nothing from for 15 seconds. If it could not run for so long, also those with a
 * request that it has not read.
 */
const LOST = /on a used connection: (?:The server closed the connection|.*(?:ECONNRESET|EPIPE)) before|^fetch failed$/

/** Slots 2 and 3 are the replicas of 0 and 1: workers/lagging.ts. */
const openSlots = (service: Service) =>
  Promise.all(
    [0, 1].map(async (slot) => {
      const [database, copy] = [slot, slot + 2].map(
        (at) => service.databases[at] && wrapDatabase(service.databases[at], repeatUnsent),
      )
      if (!database || !copy) throw new Error('The service has too few databases')
      for (const each of [database, copy]) await each.batch(LEDGER.map((query) => each.prepare(query)))
      const replica = await openStates(copy)
      await replica.dropTriggers()
      return { slot, database, replica, states: await openStates(database) }
    }),
  )

const join = async (service: Service, slots: Awaited<ReturnType<typeof openSlots>>, n: number): Promise<Member> => {
  const home = slots[n % 2] ?? slots[0]
  if (!home) throw new Error('No slots')
  // Not that of `home`, which may run an insert twice.
  const database = service.databases[home.slot] ?? service.database
  const { token, memberId } = await insertMemberAt({ ...service, slot: home.slot, database }, JWT_SECRET, newEmail())
  return {
    ...home,
    memberId,
    skip: skipQueries(home.slot),
    request: async (method, path, { body, type, headers = {} } = {}) => {
      const lines = Object.entries(headers).filter(([name]) => !/^(?:authorization|content-type)$/i.test(name))
      const response = await service.request({ method, path, token, body, type, headers: toLines(lines) })
      const { status } = response
      return new Response(status === NO_CONTENT ? null : response.bytes, { status, headers: response.headers })
    },
  }
}

export const sync: Attack = async ({ quick, seed, progress, start }) => {
  const { HISTORIES, FROM = 0, SCOPE, OFFLINE_CLIENT = 'docs/offline-client.ts' } = process.env
  const only = (['tags', 'trash'] as const).find((scope) => scope === SCOPE)
  const { createClient }: { createClient: CreateClient } = await import(resolve(OFFLINE_CLIENT))
  const service = await start({
    entry: 'test/attacks/workers/lagging.ts',
    slots: 4,
    writesPerMinute: 1e9,
    uploadsPerMinute: 1e9,
    vars: { LOG_SAMPLE_RATE: '0.01' },
  })
  const slots = await openSlots(service)
  const total = Number(HISTORIES ?? (quick ? 8 : MOST))
  const most = HISTORIES ? 1 : MAX_FAILURES
  const step = quick ? 10 : 50
  const histories: History[] = []
  const failures: string[] = []
  const fail = (problem: string) => {
    failures.push(problem)
    progress(problem)
  }
  let repeated = 0
  await concurrently(LANES, async (lane) => {
    for (let n = Number(FROM) + lane; n < total && failures.length < most; n += LANES) {
      const own = seed * MOST + n
      const run = async () => runHistory(await join(service, slots, n), own, createClient, only)
      try {
        const history = await run().catch((error: Error) => {
          if (!LOST.test(error.message)) throw error
          repeated += 1
          progress(`history ${own} is repeated: ${error.message}`)
          return run()
        })
        histories.push(history)
        for (const problem of history.problems) fail(`history ${own}: ${problem}`)
      } catch (error) {
        fail(`history ${own} broke off: ${(error as Error).stack}`)
      }
      if (histories.length % step === 0)
        progress(`${histories.length} of ${total} histories, ${failures.length} problems`)
    }
  })
  const mismatches = (await Promise.all(slots.map(({ database }) => findMismatches(database)))).flat()
  failures.push(...mismatches.map(({ table, id, field }) => `${field} of ${table} ${id} is wrong`))
  const sum = (name: 'requests' | 'writes' | 'kept') => histories.reduce((all, history) => all + history[name], 0)
  const faults = KINDS_OF_FAULTS.map((kind): [string, number, string] => {
    return [kind, histories.reduce((all, history) => all + history.faults[kind], 0), 'in them']
  })
  const reached = KINDS_OF_CASES.map((kind): [string, number, string] => {
    return [kind, histories.reduce((all, history) => all + history.reached[kind], 0), 'in them']
  })
  return {
    figures: [
      ['random histories of three devices and a writer without sync', histories.length, `${failures.length} problems`],
      ['writes on the devices', sum('writes'), `${sum('kept')} kept for the user, the others applied`],
      ['requests in them', sum('requests'), 'no 5xx'],
      ['histories that lost a connection', repeated, 'repeated with new members'],
      ...faults,
      ...reached,
    ],
    failures,
  }
}
