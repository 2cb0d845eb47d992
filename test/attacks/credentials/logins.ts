// Floods of password hashing, while a member in another network logs in again and again.
import { setTimeout } from 'node:timers/promises'
import { median, quantile } from '../../support/service/http-client'
import { type Attack, countStatuses, createChecks, type Figure } from '../harness/attack'
import type { Request } from '../harness/client'
import { jsonRequest, type Member, newEmail, PASSWORD, signUp } from '../harness/members'
import type { Service } from '../harness/service'

const OWNER_NETWORK = '198.51.100.1'
const MAX_DELAY_MS = 1000

/** The status of the response, or 0 if no response arrived. */
const send = (service: Service, request: Request) =>
  service.request(request).then(
    ({ status }) => status,
    () => 0,
  )

const sendLogin = async (service: Service, email: string, network: string) => {
  const start = performance.now()
  const status = await send(service, jsonRequest('POST', '/login', { email, password: PASSWORD }, { network }))
  return { status, ms: performance.now() - start }
}

type Flood = (service: Service, isOver: () => boolean) => Promise<unknown>

/** Sends one request after the other on many connections. */
const onConnections =
  (count: number, sendOne: (service: Service, n: number) => Promise<unknown>): Flood =>
  (service, isOver) => {
    const work = async (n: number) => {
      while (!isOver()) await sendOne(service, n)
    }
    return Promise.all(Array.from({ length: count }, (_, n) => work(n)))
  }

const tenLoginsPerSecond: Flood = async (service, isOver) => {
  const logins: Promise<unknown>[] = []
  while (!isOver()) {
    logins.push(sendLogin(service, newEmail(), '192.0.2.1'))
    await setTimeout(100)
  }
  await Promise.all(logins)
}

/** Half of them come from the owner's network, each of the others from its own. */
const passwordChanges = (member: Member, connections: number) =>
  onConnections(connections, async (service, n) => {
    const network = n % 2 === 0 ? OWNER_NETWORK : `203.0.113.${n}`
    const change = jsonRequest('PATCH', '/members/me', { password: `changed-${n}` }, { token: member.token, network })
    if ((await send(service, change)) === 429) await setTimeout(500)
  })

const loginsFromSite = (networks: number) =>
  onConnections(networks, async (service, n) => {
    const { status } = await sendLogin(service, newEmail(), `2001:db8:7:${n.toString(16)}::1`)
    if (status === 429) await setTimeout(500)
  })

export const logins: Attack = async ({ start, quick, progress }) => {
  const service = await start()
  const owner = await signUp(service)
  const attacker = await signUp(service)
  const { check, failures } = createChecks()
  const figures: Figure[] = []

  const [seconds, fillMs] = quick ? [0.5, 200] : [20, 3000]
  const logInFor = async (seconds: number) => {
    const logins: Awaited<ReturnType<typeof sendLogin>>[] = []
    const end = performance.now() + seconds * 1000
    while (performance.now() < end) logins.push(await sendLogin(service, owner.email, OWNER_NETWORK))
    return { statuses: logins.map(({ status }) => status), latencies: logins.map(({ ms }) => ms) }
  }

  const alone = median((await logInFor(quick ? seconds : 3)).latencies)
  const [connections, networks] = quick ? [6, 6] : [64, 80]
  const changes = passwordChanges(attacker, connections)
  const floods: [name: string, flood: Flood][] = [
    ['10 logins/s of random e-mails from one network', tenLoginsPerSecond],
    [`password changes with one token on ${connections} connections`, changes],
    ['both', (...flood) => Promise.all([tenLoginsPerSecond(...flood), changes(...flood)])],
    [`${networks} networks (/64) of one IPv6 /48`, loginsFromSite(networks)],
  ]
  for (const [name, flood] of floods) {
    progress(name)
    let isOver = false
    const flooding = flood(service, () => isOver)
    await setTimeout(fillMs)
    const { statuses, latencies } = await logInFor(seconds)
    isOver = true
    await flooding
    const delay = quantile(latencies, 0.95) - alone
    figures.push([`another member’s logins during ${name}`, statuses.length, countStatuses(statuses)])
    figures.push(['p95 of their delay, ms', Math.round(delay), `a login alone takes ${Math.round(alone)} ms`])
    check(`${name}: refused logins`, statuses.filter((status) => status !== 200).length, 0)
    if (!quick && !(delay < MAX_DELAY_MS)) failures.push(`${name}: the p95 of the delay is ${Math.round(delay)} ms`)
  }
  return { figures, failures }
}
