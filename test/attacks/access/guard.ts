// What requests without a valid credential cost, and whether they use up limits of the member that they name.

import { addressOf, type Operation } from '../../support/document/operations'
import {
  bodiesOf,
  type Credential,
  memberOperations,
  refusedCredentials,
  SIZES,
} from '../../support/inputs/refused-requests'
import { type HttpRequest, median, sendRequest } from '../../support/service/http-client'
import { MEMORY_LIMIT, toMib, watchMemory } from '../../support/service/watch-memory'
import { insertAccessToken, insertSession } from '../../support/tokens'
import { type Attack, type Context, countStatuses, mapConcurrently, mergeReports, type Report } from '../harness/attack'
import { readCpuMs } from '../harness/cpu'
import { insertMember, jsonRequest } from '../harness/members'
import { JWT_SECRET, type Service } from '../harness/service'

/** At most this many times the CPU of refusing a request without a body, beyond what receiving the body costs. */
const MAX_RATIO = 2
/** A ratio above the limit is measured again with more samples, because other load on the machine distorts a few. */
const [SAMPLES, MORE_SAMPLES] = [3, 25]

type Send = () => Promise<HttpRequest>
type Case = { name: string; size: string; withBody: Send }

const withToken = (request: HttpRequest, token: string | undefined, network: string): HttpRequest => ({
  ...request,
  headers: `CF-Connecting-IP: ${network}\r\n`,
  ...(token !== undefined && { token }),
})

let networks = 0
const newNetwork = () => `10.9.${(++networks >> 8) & 255}.${networks & 255}`

const sender =
  (operation: Operation, { token }: Credential) =>
  async (request: HttpRequest) =>
    withToken(request, await token(operation), newNetwork())

const casesOf = (operation: Operation, credential: Credential): Case[] => {
  const request = { method: operation.method, path: addressOf(operation) }
  const send = sender(operation, credential)
  return bodiesOf(operation).map(({ name, ...content }) => ({
    name: `${request.method} ${request.path} with ${credential.name}, ${name}`,
    size: name.split(',')[0] ?? '',
    withBody: () => send({ ...request, ...content }),
  }))
}

/** CPU times of the workerd process, in milliseconds. */
const measureCpu = async ({ url, pid }: Service, send: Send, statuses: number[] = []) => {
  const request = await send()
  const before = readCpuMs(pid)
  statuses.push((await sendRequest(url, request)).status)
  return readCpuMs(pid) - before
}
const medianCpu = async (samples: number, measure: () => Promise<number>) =>
  median(await Array.fromAsync({ length: samples }, measure))

/** What it costs a Worker only to receive a body of each size. */
const measureReceiving = async (control: Service, samples: number) => {
  const receive = (length: number) => async () => ({ method: 'POST', path: '/', body: new Uint8Array(length) })
  const costs = new Map<string, number>()
  for (const [size, length] of Object.entries(SIZES)) {
    costs.set(size, await medianCpu(samples, () => measureCpu(control, receive(length))))
  }
  const nothing = costs.get('small') ?? 0
  return (size: string) => Math.max(0, (costs.get(size) ?? 0) - nothing)
}

/** Every operation with every credential and body. */
const walk = async ({ start, quick, progress }: Context): Promise<Report> => {
  const service = await start()
  const control = await start({ entry: 'test/attacks/workers/draining.ts' })
  const receivingCost = await measureReceiving(control, quick ? 1 : MORE_SAMPLES)
  const credentials = await refusedCredentials(service, await insertMember(service), JWT_SECRET)
  const operations = quick ? memberOperations.filter((_, n) => n % 80 === 0) : memberOperations
  const samples = quick ? 1 : SAMPLES
  const failures: string[] = []
  const statuses: number[] = []
  const ratios: number[] = []

  /** Measures each with its control, because the speed of the machine changes. */
  const compareInTurns = async (size: string, withBody: Send, withoutBody: Send) => {
    const body = new Uint8Array(SIZES[size as keyof typeof SIZES])
    const excess: number[] = []
    const refusals: number[] = []
    for (let n = 0; n < MORE_SAMPLES; n++) {
      const refused = await measureCpu(service, withBody)
      const received = await measureCpu(control, async () => ({ method: 'POST', path: '/', body }))
      excess.push(refused - received + (await measureCpu(control, async () => ({ method: 'POST', path: '/' }))))
      refusals.push(await measureCpu(service, withoutBody))
    }
    return median(excess) / median(refusals)
  }

  const examine = async ({ name, size, withBody }: Case, withoutBody: Send, refusal: number) => {
    const answers: number[] = []
    const first = await medianCpu(samples, () => measureCpu(service, withBody, answers))
    let ratio = (first - receivingCost(size)) / refusal
    if (!quick && ratio > MAX_RATIO) ratio = await compareInTurns(size, withBody, withoutBody)
    if (!quick && ratio > MAX_RATIO)
      failures.push(`${name}: ${ratio.toFixed(1)} times the CPU of a refusal without a body`)
    const wrong = answers.filter((status) => ![400, 401, 403, 413, 415].includes(status))
    if (wrong.length > 0) failures.push(`${name}: ${countStatuses(wrong)}`)
    statuses.push(...answers)
    ratios.push(ratio)
  }
  for (const credential of credentials) {
    progress(`${operations.length} operations with ${credential.name}`)
    for (const operation of operations) {
      // The guard refuses it, whatever the operation.
      const withoutBody = () => sender(operation, credential)({ method: 'GET', path: '/members/me' })
      const refusal = await medianCpu(samples, () => measureCpu(service, withoutBody))
      for (const each of casesOf(operation, credential)) await examine(each, withoutBody, refusal)
    }
  }
  const percent = Math.round(100 * Math.max(...ratios))
  return {
    figures: [
      ['operations × refused credentials × bodies', ratios.length, countStatuses(statuses)],
      ['CPU in percent of a refusal without a body', Math.round(100 * median(ratios)), `at most ${percent}`],
    ],
    failures,
  }
}

/** What the isolate may keep for each refused request. */
const MAX_KEPT = 65_536
/** What all of them may take at once, garbage included: a quarter of an isolate. */
const MAX_PEAK = MEMORY_LIMIT / 4

/** A connection that ended without an answer. */
const BROKEN = { status: 0 }

/** Memory of the isolate while many large requests are refused at once. */
const refuseAtOnce = async ({ start, quick, progress }: Context): Promise<Report> => {
  const count = quick ? 5 : 100
  const service = await start({ inspected: true })
  const credentials = await refusedCredentials(service, await insertMember(service), JWT_SECRET)
  const withBodies = memberOperations.filter(({ types }) => types.length > 0)
  progress(`${count} refused bodies of 10 MB at once`)
  const send = async (n: number) => {
    const operation = withBodies[n % withBodies.length] as Operation
    const cases = casesOf(operation, credentials[n % credentials.length] as Credential)
    const { status } = await sendRequest(service.url, await (cases.at(-1) as Case).withBody()).catch(() => BROKEN)
    return status
  }
  const numbers = Array.from({ length: count }, (_, n) => n)
  // A first run, so that what the isolate builds on first use does not count as kept.
  await mapConcurrently(count, numbers, send)
  const statuses: number[] = []
  const peak = await watchMemory(service, async () => {
    statuses.push(...(await mapConcurrently(count, numbers, send)))
  })
  const kept = peak.kept / count
  const failures = []
  const broken = statuses.filter((status) => status === BROKEN.status).length
  if (broken > 0) failures.push(`${broken} of ${count} connections broke without an answer`)
  if (!quick && kept > MAX_KEPT)
    failures.push(`the isolate keeps ${Math.round(kept)} bytes of each refused body of 10 MB`)
  if (peak.isolate === 0 || peak.isolate > MAX_PEAK) failures.push(`they take ${toMib(peak.isolate)} MiB at once`)
  return {
    figures: [
      ['refused bodies of 10 MB at once', count, countStatuses(statuses)],
      ['bytes that the isolate keeps of each', Math.max(0, Math.round(kept)), `peak ${toMib(peak.isolate)} MiB`],
    ],
    failures,
  }
}

const FLOOD = 10_000

/** The remedies of an owner while ended and scopeless credentials of the account flood the service from the same network. */
const remedy = async ({ start, quick, progress }: Context): Promise<Report> => {
  const service = await start({ writesPerMinute: 1000, unconfirmedPerMinute: 3000 })
  const { database, slot } = service
  const owner = await insertMember(service)
  const credentials = await refusedCredentials(service, owner, JWT_SECRET)
  const network = '192.0.2.77'
  const failures: string[] = []
  const statuses: number[] = []
  let isOver = false

  const flood = async (n: number) => {
    const operation = memberOperations[n % memberOperations.length] as Operation
    const credential = credentials[n % credentials.length] as Credential
    const { name: _, ...content } = bodiesOf(operation, ['small'])[n % 2] as {
      name: string
      type: string
      body: Uint8Array
    }
    const request = { method: operation.method, path: addressOf(operation), ...content }
    const sent = withToken(request, await credential.token(operation), network)
    statuses.push((await sendRequest(service.url, sent)).status)
  }
  const newSession = () => insertSession(database, owner.memberId, JWT_SECRET, slot)
  const act = async (method: string, path: string, token: string, body?: object) => {
    const request = body ? jsonRequest(method, path, body, { token }) : { method, path, token }
    const { status } = await service.request({ ...request, network })
    if (status >= 300) failures.push(`${method} ${path} during the flood: ${status}`)
  }
  let remedies = 0
  const help = async () => {
    while (!isOver) {
      const [session, other] = [await newSession(), await newSession()]
      await insertAccessToken(database, owner.memberId, ['library:write'], slot)
      await act('GET', '/sessions', session.token)
      const { body } = await service.request({ method: 'GET', path: '/tokens', token: session.token, network })
      const [token] = body as { tokenId: string }[]
      await act('DELETE', `/tokens/${token?.tokenId}`, session.token)
      await act('DELETE', `/sessions/${other.sessionId}`, session.token)
      await act('PATCH', '/members/me', session.token, { password: `new-password-${remedies}` })
      await act('DELETE', '/sessions', session.token)
      await act('POST', '/logout', session.token)
      // From another network, which is not flooded.
      const elsewhere = await newSession()
      const search = { method: 'GET', path: '/books/search?q=demian', token: elsewhere.token, network: '192.0.2.78' }
      const { status } = await service.request(search)
      // The owner's own searches are limited to thirty a minute.
      if (status !== 200 && remedies < 20) failures.push(`a search during the flood: ${status}`)
      remedies += 1
    }
  }
  const count = quick ? 60 : FLOOD
  progress(`${count} requests with refused credentials`)
  const helping = help()
  await mapConcurrently(
    20,
    Array.from({ length: count }, (_, n) => n),
    flood,
  )
  isOver = true
  await helping
  const others = failures.length
  if (statuses.some((status) => status >= 500)) failures.push(`the flood got ${countStatuses(statuses)}`)
  return {
    figures: [
      ['requests with refused credentials from the owner’s network', count, countStatuses(statuses)],
      ['rounds of seven remedies of the owner meanwhile', remedies, `${others} failed`],
    ],
    failures,
  }
}

export const guard: Attack = async (context) =>
  mergeReports(await walk(context), await refuseAtOnce(context), await remedy(context))
