// What requests without a valid credential cost, and what they take from the member whose credential they name.
import { type HttpRequest, median, sendRequest } from '../support/http-client'
import { addressOf, type Operation } from '../support/operations'
import { bodiesOf, type Credential, memberOperations, refusedCredentials } from '../support/refused-requests'
import { insertAccessToken, insertSession } from '../support/tokens'
import { MEMORY_LIMIT, toMib, watchMemory } from '../support/watch-memory'
import { type Attack, type Context, countStatuses, mapConcurrently, mergeReports, type Report } from './attack'
import { readCpuMs } from './cpu'
import { insertMember, jsonRequest } from './members'
import { JWT_SECRET, type Service } from './service'

/** At most this many times the CPU of refusing a request without a body, beyond what receiving the body costs. */
const MAX_RATIO = 2
/** A ratio above the limit is measured again, because other work on the machine distorts few samples. */
const [SAMPLES, MORE_SAMPLES] = [5, 25]

type Send = () => Promise<HttpRequest>
type Case = { name: string; withBody: Send; withoutBody: Send }

const withToken = (request: HttpRequest, token: string | undefined, network: string): HttpRequest => ({
  ...request,
  headers: `CF-Connecting-IP: ${network}\r\n`,
  ...(token !== undefined && { token }),
})

let networks = 0
const newNetwork = () => `10.9.${(++networks >> 8) & 255}.${networks & 255}`

const casesOf = (operation: Operation, { token, name }: Credential): Case[] => {
  const request = { method: operation.method, path: addressOf(operation) }
  const send = async (sent: HttpRequest) => withToken(sent, await token(operation), newNetwork())
  return bodiesOf(operation).map(({ name: body, ...content }) => ({
    name: `${request.method} ${request.path} with ${name}, ${body}`,
    withBody: () => send({ ...request, ...content }),
    // The guard refuses it, whatever the operation.
    withoutBody: () => send({ method: 'GET', path: '/members/me' }),
  }))
}

/** The CPU time of the workerd process for a request, in milliseconds. */
const measureCpu = async ({ url, pid }: Service, request: HttpRequest, statuses: number[] = []) => {
  const before = readCpuMs(pid)
  statuses.push((await sendRequest(url, request)).status)
  return readCpuMs(pid) - before
}

/** Medians of requests in turns. `control` only receives the bodies. */
const compareCpu = async (service: Service, control: Service, { withBody, withoutBody }: Case, samples: number) => {
  const times = { refused: [] as number[], empty: [] as number[], received: [] as number[], nothing: [] as number[] }
  const statuses: number[] = []
  for (let n = 0; n < samples; n++) {
    const request = await withBody()
    times.refused.push(await measureCpu(service, request, statuses))
    times.empty.push(await measureCpu(service, await withoutBody()))
    times.received.push(await measureCpu(control, { method: 'POST', path: '/', body: request.body }))
    times.nothing.push(await measureCpu(control, { method: 'POST', path: '/' }))
  }
  const receiving = Math.max(0, median(times.received) - median(times.nothing))
  return { ratio: (median(times.refused) - receiving) / median(times.empty), statuses }
}

/** Every operation with every credential and body. */
const walk = async ({ start, quick, progress }: Context): Promise<Report> => {
  const service = await start()
  const control = await start({ entry: 'test/attacks/workers/draining.ts' })
  const owner = await insertMember(service)
  const credentials = await refusedCredentials(service, owner, JWT_SECRET)
  const operations = quick ? memberOperations.filter((_, n) => n % 8 === 0) : memberOperations
  const failures: string[] = []
  const statuses: number[] = []
  const ratios: number[] = []
  for (const credential of credentials) {
    progress(`${operations.length} operations with ${credential.name}`)
    for (const each of operations.flatMap((operation) => casesOf(operation, credential))) {
      const first = await compareCpu(service, control, each, SAMPLES)
      const { ratio } = first.ratio > MAX_RATIO ? await compareCpu(service, control, each, MORE_SAMPLES) : first
      if (ratio > MAX_RATIO)
        failures.push(`${each.name}: ${ratio.toFixed(1)} times the CPU of a refusal without a body`)
      const wrong = first.statuses.filter((status) => ![400, 401, 403, 413, 415].includes(status))
      if (wrong.length > 0) failures.push(`${each.name}: ${countStatuses(wrong)}`)
      statuses.push(...first.statuses)
      ratios.push(ratio)
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

const CONCURRENT = 100
/** What the isolate may keep for each refused request. */
const MAX_KEPT = 65_536
/** What all of them may take at once, garbage included: a quarter of an isolate. */
const MAX_PEAK = MEMORY_LIMIT / 4

/** Memory of the isolate while many large requests are refused at once. */
const refuseAtOnce = async ({ start, progress }: Context): Promise<Report> => {
  const service = await start({ inspected: true })
  const credentials = await refusedCredentials(service, await insertMember(service), JWT_SECRET)
  const withBodies = memberOperations.filter(({ types }) => types.length > 0)
  progress(`${CONCURRENT} refused bodies of 10 MB at once`)
  const send = async (n: number) => {
    const operation = withBodies[n % withBodies.length] as Operation
    const cases = casesOf(operation, credentials[n % credentials.length] as Credential)
    return (await sendRequest(service.url, await (cases.at(-1) as Case).withBody())).status
  }
  const numbers = Array.from({ length: CONCURRENT }, (_, n) => n)
  // What the isolate builds at first use is not kept for a request.
  await mapConcurrently(CONCURRENT, numbers, send)
  const statuses: number[] = []
  const peak = await watchMemory(service, async () => {
    statuses.push(...(await mapConcurrently(CONCURRENT, numbers, send)))
  })
  const kept = peak.kept / CONCURRENT
  const failures = []
  if (kept > MAX_KEPT) failures.push(`the isolate keeps ${Math.round(kept)} bytes of each refused body of 10 MB`)
  if (peak.isolate === 0 || peak.isolate > MAX_PEAK) failures.push(`they take ${toMib(peak.isolate)} MiB at once`)
  return {
    figures: [
      ['refused bodies of 10 MB at once', CONCURRENT, countStatuses(statuses)],
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
      // Elsewhere, where the network is not flooded.
      const elsewhere = await newSession()
      const search = { method: 'GET', path: '/books/search?q=demian', token: elsewhere.token, network: '192.0.2.78' }
      const { status } = await service.request(search)
      // The owner's own searches are limited to thirty a minute.
      if (status !== 200 && remedies < 20) failures.push(`a search during the flood: ${status}`)
      remedies += 1
    }
  }
  const count = quick ? 1_000 : FLOOD
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
