// Password resets: guessing, replays, races and timing.
import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { insertMemberAt } from '../../support/home'
import { takeSnapshot } from '../../support/stores'
import { type Attack, type Context, concurrently, createChecks, mergeReports, type Report } from '../harness/attack'
import type { Response } from '../harness/client'
import { jsonRequest, type Member, newEmail, PASSWORD, requestCode, signUp } from '../harness/members'
import { JWT_SECRET, type Service } from '../harness/service'
import { largestWelch, MAX_T } from '../harness/timing'

const NEW_PASSWORD = 'reset-horse-8'
/** Tries in ten minutes for an address from one network. */
const TRIES = 5
const WRONG = 'WRNGC-0DE00'

let networks = 0
const newNetwork = () => `172.24.${networks >> 8}.${networks++ & 255}`

const requestReset = (service: Service, email: string, network = newNetwork()) =>
  service.request(jsonRequest('POST', '/email/password-reset', { email }, { network }))
const resetWith = (service: Service, email: string, code: string, network = newNetwork(), password = NEW_PASSWORD) => {
  const body = { email, authenticationCode: code, password }
  return service.request(jsonRequest('POST', '/password-reset', body, { network }))
}
const logInWith = (service: Service, email: string, password: string) =>
  service.request(jsonRequest('POST', '/login', { email, password }, { network: newNetwork() }))
const getProfile = (service: Service, token: string) => service.request({ method: 'GET', path: '/members/me', token })

const FORM = /\b[0-9A-Z]{5}-[0-9A-Z]{5}\b/
/** Waits for a mail that is not among the earlier ones and contains a code. */
const nextCode = async (service: Service, earlier: string[], form: RegExp) => {
  for (let attempt = 0; attempt < 500; attempt++) {
    const [code] = service.mails().flatMap((mail) => (earlier.includes(mail) ? [] : (mail.match(form)?.[0] ?? [])))
    if (code) return code
    await setTimeout(20)
  }
  throw new Error('No mail with a code arrived')
}

const receiveResetCode = async (service: Service, email: string) => {
  const earlier = service.mails()
  const { status } = await requestReset(service, email)
  if (status !== 202) throw new Error(`No code was sent: ${status}`)
  const code = await nextCode(service, earlier, FORM)
  service.secrets.add(code).add(email).add(NEW_PASSWORD)
  return code
}

const countAttempts = async ({ directory }: Service) =>
  (await directory.prepare('select count(*) as n from attempts').first<number>('n')) ?? 0

const guess = async (service: Service, { quick, progress }: Context): Promise<Report> => {
  const guesses = quick ? 40 : 1_000
  progress(`guessing ${guesses} codes at once`)
  const { failures, check } = createChecks()
  const { email, token, memberId } = await signUp(service)
  const code = await receiveResetCode(service, email)
  const before = await takeSnapshot(service.databases, memberId)
  const counted = await countAttempts(service)
  // One network alone would reach the limit of requests.
  const guessers = Array.from({ length: 4 }, newNetwork)
  const responses = await concurrently(guesses, (n) =>
    resetWith(service, email, `GVESS-${String(n).padStart(5, '0')}`, guessers[n % 4]),
  )
  // Each is counted for the network and the address, and for the network.
  const evaluated = ((await countAttempts(service)) - counted) / 2
  check(`guesses evaluated, of ${guesses} concurrent ones`, evaluated, 4 * TRIES)
  check('of these, wrong', responses.filter(({ status }) => status === 400).length, 4 * TRIES)
  const other = responses.find(({ status }) => ![400, 429, 503].includes(status))
  check('unexpected response to a guess', other?.status, undefined)
  check('the right code from a network that guessed', (await resetWith(service, email, code, guessers[0])).status, 429)
  check('the member is unchanged', await takeSnapshot(service.databases, memberId), before)
  check('the token of the member', (await getProfile(service, token)).status, 200)
  check('the right code from another network', (await resetWith(service, email, code)).status, 204)
  return {
    figures: [[`concurrent guesses of a reset code from four networks`, guesses, `${evaluated} evaluated, none right`]],
    failures,
  }
}

const replay = async (service: Service, { progress }: Context): Promise<Report> => {
  progress('replaying codes')
  const { failures, check } = createChecks()
  const [member, other] = [await signUp(service), await signUp(service)]
  const [first, second] = [await receiveResetCode(service, member.email), await receiveResetCode(service, member.email)]
  const ofOther = await receiveResetCode(service, other.email)
  const earlier = service.mails()
  const stranger = newEmail()
  await requestCode(service, stranger, newNetwork())
  const joinCode = await nextCode(service, earlier, /\b\d{6}\b/)
  service.codes.add(joinCode)
  const refused: [what: string, email: string, code: string][] = [
    ['the code of another address', member.email, ofOther],
    ['a code for sign-up', stranger, joinCode],
    ['a code for sign-up, and a member’s address', member.email, joinCode],
  ]
  const expectRefusal = async ([what, email, code]: (typeof refused)[number]) =>
    check(what, (await resetWith(service, email, code)).status, 400)
  for (const each of refused) await expectRefusal(each)
  check('the first use', (await resetWith(service, member.email, first)).status, 204)
  const again = await concurrently(20, () => resetWith(service, member.email, first))
  check('further uses', again.filter(({ status }) => status === 400).length, 20)
  await expectRefusal(['another code, issued before the reset', member.email, second])
  check('a login with the new password', (await logInWith(service, member.email, NEW_PASSWORD)).status, 200)
  check('a login of the other member', (await logInWith(service, other.email, PASSWORD)).status, 200)
  const count = refused.length + 1 + again.length
  return { figures: [['replays, and codes of another address or purpose', count, 'all refused']], failures }
}

/** Sends a reset and another request up to 400 ms apart, in alternating order, so that each is sometimes the first. */
const atOnce = async (service: Service, member: Member, round: number, request: () => Promise<Response>) => {
  const code = await receiveResetCode(service, member.email)
  const delay = (round * 97) % 400
  const [resetAfter, requestAfter] = round % 2 === 0 ? [0, delay] : [delay, 0]
  return Promise.all([
    setTimeout(resetAfter).then(() => resetWith(service, member.email, code)),
    setTimeout(requestAfter).then(request),
  ])
}

const race = async (service: Service, { quick, progress }: Context): Promise<Report> => {
  const rounds = quick ? 1 : 40
  const { failures, check } = createChecks()
  const wins = { login: 0, change: 0, withdrawal: 0 }
  for (let round = 0; round < rounds; round++) {
    progress(`races, round ${round + 1} of ${rounds}`)
    const visitor = await signUp(service)
    const [reset, login] = await atOnce(service, visitor, round, () => logInWith(service, visitor.email, PASSWORD))
    check('a reset during a login', reset.status, 204)
    check('a login during a reset', [200, 401].includes(login.status), true)
    const token = login.headers.get('Authorization')?.replace('Bearer ', '')
    if (token) check('the token of a login before the reset', (await getProfile(service, token)).status, 401)
    wins.login += login.status === 200 ? 1 : 0

    const changer = await signUp(service)
    const change = jsonRequest('PATCH', '/members/me', { password: 'changed-horse-9' }, { token: changer.token })
    const [, changed] = await atOnce(service, changer, round, () => service.request(change))
    wins.change += changed.status === 200 ? 1 : 0
    const passwords = [NEW_PASSWORD, 'changed-horse-9', PASSWORD]
    const logins = await concurrently(3, (n) => logInWith(service, changer.email, passwords[n] ?? ''))
    check('logins after a reset during a change', logins.map(({ status }) => status).join(' '), '200 401 401')

    const leaver = await signUp(service)
    const withdraw = () => service.request({ method: 'DELETE', path: '/members/me', token: leaver.token })
    const [last, withdrawn] = await atOnce(service, leaver, round, withdraw)
    const isWithdrawn = withdrawn.status === 204
    wins.withdrawal += isWithdrawn ? 1 : 0
    check('a reset during a withdrawal', last.status, isWithdrawn ? 400 : 204)
    const status = isWithdrawn ? 401 : 200
    check('a login afterwards', (await logInWith(service, leaver.email, NEW_PASSWORD)).status, status)
  }
  const [of, result] = [`of ${rounds}`, failures.length > 0 ? 'failed' : 'consistent']
  return {
    figures: [
      [
        'resets during a login',
        rounds,
        `${result}: ${wins.login} ${of} logins came first, none of their tokens is valid`,
      ],
      ['resets during a password change', rounds, `${result}: ${wins.change} ${of} changes came first`],
      ['resets during a withdrawal', rounds, `${result}: ${wins.withdrawal} ${of} withdrawals came first`],
    ],
    failures,
  }
}

const DIFFERING = ['x-request-id', 'x-d1-bookmark']

/** Times a request for known and unknown addresses, each from its own network, in random order. */
const time = async (
  { quick, seed, progress }: Context,
  what: string,
  send: (email: string, network: string) => Promise<Response>,
): Promise<Report> => {
  const samples = quick ? 8 : 2_000
  const all = Array.from({ length: samples }, (_, n) => ({ kind: n % 2, email: `timed-${n}@attack.example` }))
  const [order = []] = fc.sample(fc.shuffledSubarray(all, { minLength: samples }), { seed, numRuns: 1 })
  const times: [known: number[], unknown: number[]] = [[], []]
  const responses = new Set<string>()
  for (const [n, { kind, email }] of order.entries()) {
    if (n % 500 === 0) progress(`timing ${what}, ${n} of ${samples}`)
    const network = newNetwork()
    const start = performance.now()
    const { status, headers, body } = await send(email, network)
    times[kind as 0 | 1].push(performance.now() - start)
    responses.add(JSON.stringify([status, [...headers].filter(([name]) => !DIFFERING.includes(name)), body]))
    // Waits for the work after the response, which would slow down the next sample.
    await setTimeout(5)
  }
  const t = largestWelch(...times)
  const { failures, check } = createChecks()
  if (!quick && !(Math.abs(t) < MAX_T))
    failures.push(`timing of ${what} distinguishes unknown addresses: t = ${t.toFixed(2)}`)
  check(`different responses to ${what}`, responses.size, 1)
  const figure = `Welch t = ${t.toFixed(2)}, limit ${MAX_T}; ${responses.size - 1} different responses`
  return { figures: [[`${what}, known and unknown addresses interleaved`, samples, figure]], failures }
}

const timeResets = async (context: Context): Promise<Report> => {
  const service = await context.start()
  const known = context.quick ? 8 : 2_000
  for (let n = 0; n < known; n += 2) await insertMemberAt(service, JWT_SECRET, `timed-${n}@attack.example`)
  const requested = await time(context, 'requests for a reset code', (email, network) =>
    requestReset(service, email, network),
  )
  const { failures, check } = createChecks()
  for (let attempt = 0; attempt < 500 && service.mails().length < known / 2; attempt++) await setTimeout(20)
  check('mails sent', service.mails().length, known / 2)
  // The members have valid codes now.
  const guessed = await time(context, 'wrong reset codes', (email, network) =>
    resetWith(service, email, WRONG, network),
  )
  return mergeReports(requested, guessed, { figures: [], failures })
}

export const reset: Attack = async (context) => {
  const service = await context.start()
  const guessed = await guess(service, context)
  const replayed = await replay(service, context)
  return mergeReports(guessed, replayed, await race(service, context), await timeResets(context))
}
