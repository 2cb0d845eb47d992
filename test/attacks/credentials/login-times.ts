// Neither time nor content of a failed login may reveal whether an account exists, with one database or several.
import * as fc from 'fast-check'
import { insertMemberAt } from '../../support/home'
import { type Context, concurrently, createChecks, type Report } from '../harness/attack'
import { jsonRequest, PASSWORD, signUp } from '../harness/members'
import { JWT_SECRET, type Service } from '../harness/service'
import { largestWelch, MAX_T } from '../harness/timing'

/** Repeats the kinds in a new random order each time, so that none gains from being first. */
const shuffleRounds = <const Kind>(count: number, seed: number, kinds: Kind[]) =>
  fc.sample(fc.shuffledSubarray(kinds, { minLength: kinds.length }), { seed, numRuns: count })

/** Each account is tried once, each time from another network. */
const failLogin = async (service: Service, account: string, kind: number, n: number) => {
  const network = `172.${16 + kind}.${n >> 8}.${n & 255}`
  const credentials = { email: `${account}@attack.example`, password: `${PASSWORD}-wrong` }
  const request = jsonRequest('POST', '/login', credentials, { network })
  const start = performance.now()
  const { status, headers, body } = await service.request(request)
  const ms = performance.now() - start
  const differing = ['x-request-id', 'x-databases']
  const comparable = JSON.stringify([status, [...headers].filter(([name]) => !differing.includes(name)), body])
  return { ms, comparable, databases: headers.get('X-Databases') }
}

const hashOf = async (service: Service) => {
  const { memberId } = await signUp(service)
  const row = service.database.prepare('select passwordHash from members where memberId = ?').bind(memberId)
  return (await row.first<string>('passwordHash')) ?? ''
}

const limited = 'failed logins per account and network in 15 minutes'
/** How many of 40 concurrent wrong passwords are hashed. */
const countHashedLogins = async (service: Service) => {
  const { email } = await signUp(service)
  const login = jsonRequest('POST', '/login', { email, password: 'wrong' }, { network: '192.0.2.1' })
  const responses = await concurrently(40, () => service.request(login))
  return responses.filter(({ status }) => status === 401).length
}

/** Compares failed logins of unknown accounts with wrong passwords of existing ones, alternating. */
export const timeLogins = async ({ quick, seed, progress, start }: Context): Promise<Report> => {
  const pairs = quick ? 4 : 1_000
  const service = await start({ slots: 1 })
  const hash = await hashOf(service)
  for (let n = 0; n < pairs; n++) await insertMemberAt(service, JWT_SECRET, `known-${n}@attack.example`, hash)
  const times: [known: number[], unknown: number[]] = [[], []]
  const responses = new Set<string>()
  for (const [n, round] of shuffleRounds(pairs, seed, ['known', 'unknown']).entries()) {
    if (n % 250 === 0) progress(`timing logins, ${n * 2} of ${pairs * 2}`)
    for (const account of round) {
      const kind = account === 'known' ? 0 : 1
      const { ms, comparable } = await failLogin(service, `${account}-${n}`, kind, n)
      times[kind].push(ms)
      responses.add(comparable)
    }
  }
  const t = largestWelch(...times)
  const failures: string[] = []
  if (!quick && Math.abs(t) >= MAX_T) failures.push(`timing distinguishes unknown accounts: t = ${t.toFixed(2)}`)
  if (responses.size !== 1) failures.push(`responses distinguish unknown accounts: ${[...responses].join(' and ')}`)
  return {
    figures: [
      [
        'logins, unknown account and wrong password alternating',
        pairs * 2,
        `Welch t = ${t.toFixed(2)}, limit ${MAX_T}`,
      ],
      ['of these, different responses, headers included', pairs * 2, `${responses.size - 1}`],
      [limited, await countHashedLogins(service), 'hashed, then 429'],
    ],
    failures,
  }
}

/** Members of slot 1 for each one of slot 0: unequal, to detect stand-ins that are chosen evenly. */
const SHARE = 1.5

/** Adds accounts that can log in to slot 0 and slot 1, and half as many more to slot 1. */
const fillSlots = async (service: Service, accounts: number) => {
  const { directory, addressKey } = service
  const homes = [{ slot: 0, database: directory, directory, addressKey }, service]
  const hash = await hashOf(service)
  for (let n = 0; n < accounts; n++) {
    for (const home of homes) await insertMemberAt(home, JWT_SECRET, `slot-${home.slot}-${n}@attack.example`, hash)
  }
  for (let n = 0; n < accounts * (SHARE - 1); n++) {
    await insertMemberAt(service, JWT_SECRET, `more-${n}@attack.example`)
  }
}

/**
 * Compares failed logins of the members of each slot with those of unknown accounts for which the service asks the same
 * slot. The databases are at different distances, so that asking another one, or one more, shows in the time.
 */
export const timeLoginsOfSlots = async ({ quick, seed, progress, start }: Context): Promise<Report> => {
  // Enough that the smaller share of unknown accounts has 2,000 too.
  const rounds = quick ? 4 : 2_000
  const service = await start({ slots: 2, entry: 'test/attacks/workers/distant-slots.ts' })
  progress(`adding ${rounds * (1 + SHARE)} members to two slots`)
  await fillSlots(service, rounds)
  const [known, unknown] = [new Map<string, number[]>(), new Map<string, number[]>()]
  const responses = new Set<string>()
  const { failures, check } = createChecks()
  const kinds = ['slot-0', 'slot-1', 'unknown-a', 'unknown-b', 'unknown-c']
  for (const [n, round] of shuffleRounds(rounds, seed, kinds).entries()) {
    if (n % 250 === 0) progress(`timing logins of two slots, ${n * kinds.length} of ${rounds * kinds.length}`)
    // Two and a half unknown accounts a round.
    for (const account of round.filter((each) => each !== 'unknown-c' || n % 2 === 0)) {
      const { ms, comparable, databases } = await failLogin(service, `${account}-${n}`, kinds.indexOf(account), n)
      responses.add(comparable)
      const sample = account.startsWith('slot') ? known : unknown
      sample.set(databases ?? '', [...(sample.get(databases ?? '') ?? []), ms])
    }
  }
  const calls = (samples: Map<string, number[]>) => [...samples.keys()].sort().join(' or ')
  check('databases asked about members', calls(known), 'DB,DB or DB,DB_1')
  check('databases asked about unknown accounts', calls(unknown), 'DB,DB or DB,DB_1')
  check('different responses', responses.size, 1)
  const figures: Report['figures'] = []
  for (const [slot, databases] of ['DB,DB', 'DB,DB_1'].entries()) {
    const [members, strangers] = [known.get(databases) ?? [], unknown.get(databases) ?? []]
    const t = largestWelch(members, strangers)
    if (!quick && !(Math.abs(t) < MAX_T))
      failures.push(`timing tells members of slot ${slot} from others: t = ${t.toFixed(2)}`)
    const what = `logins, members of slot ${slot} and unknown accounts that it stands in for, interleaved`
    figures.push([what, members.length + strangers.length, `Welch t = ${t.toFixed(2)}, limit ${MAX_T}`])
  }
  const count = [...unknown.values()].flat().length
  const share = (unknown.get('DB,DB_1') ?? []).length / count
  const expected = SHARE / (1 + SHARE)
  const tolerance = 4 * Math.sqrt((expected * (1 - expected)) / count)
  if (Math.abs(share - expected) > tolerance) failures.push(`slot 1 stands in for a share of ${share}, not ${expected}`)
  const percent = (value: number) => `${(value * 100).toFixed(1)} %`
  figures.push([
    'unknown accounts',
    count,
    `slot 1 stands in for ${percent(share)}, has ${percent(expected)} of members`,
  ])
  return { figures, failures }
}
