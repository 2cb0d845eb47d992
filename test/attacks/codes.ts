// Verification codes and logins: raced, guessed, and timed.
import { setTimeout } from 'node:timers/promises'
import { CODE_TRIES, LOGINS, MAILS } from '../../src/members/attempts'
import { join, newEmail, PASSWORD, signUp, withJson } from './members'
import type { Findings, Part, Run } from './part'
import type { Service } from './service'
import { furthestWelch, shuffledPairs } from './statistics'

const mailed = new WeakMap<Service, number>()

const askForCode = async (service: Service, email: string) => {
  const answer = await service.ask(withJson('POST', '/email/join', { joinAuthCodeEmail: email }))
  if (answer.status === 201) mailed.set(service, (mailed.get(service) ?? 0) + 1)
  return answer
}

/** The mails, once all that were sent are there: a file is there before its text is. */
const allMails = async (service: Service) => {
  for (let waited = 0; waited < 500; waited++) {
    const mails = service.mails().filter((mail) => mail !== '')
    if (mails.length === (mailed.get(service) ?? 0)) return mails
    await setTimeout(20)
  }
  throw new Error('Not every mail that was sent has come')
}

/** Has a code mailed, and reads it. */
const codeFor = async (service: Service, email: string) => {
  const before = new Set(await allMails(service))
  const { status } = await askForCode(service, email)
  if (status !== 201) throw new Error(`No code was mailed: ${status}`)
  const code = (await allMails(service)).find((mail) => !before.has(mail))?.match(/\b\d{6}\b/)?.[0]
  if (!code) throw new Error('The mail holds no code')
  service.secrets.add(email)
  service.codes.add(code)
  return code
}

const wrong = (code: string, n = 0) => String((Number(code) + 1 + n) % 10 ** code.length).padStart(code.length, '0')
const together = <Result>(count: number, work: (n: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))
const count = async (service: Service, query: string, ...values: unknown[]) =>
  (
    await service.database
      .prepare(query)
      .bind(...values)
      .first<{ n: number }>()
  )?.n ?? 0

const race = async (service: Service, { quick, progress }: Run): Promise<Findings> => {
  const [rounds, joins, guesses, mails] = quick ? [3, 50, 200, 30] : [20, 50, 1_000, 30]
  const failures: string[] = []
  for (let round = 0; round < rounds; round++) {
    progress(`races, round ${round + 1} of ${rounds}`)
    const email = newEmail()
    const code = await codeFor(service, email)
    const answers = await together(joins, () => join(service, email, { authenticationCode: code }))
    const created = answers.filter(({ status }) => status === 201).length
    const members = await count(service, 'select count(*) as n from members where email = ?', email)
    if (created !== 1 || members !== 1)
      failures.push(`${joins} sign-ups with one code: ${created} × 201, ${members} members`)
    const odd = answers.find(({ status }) => ![201, 400, 409].includes(status))
    if (odd) failures.push(`a sign-up that lost the race: ${odd.status}`)

    const guessed = newEmail()
    const secret = await codeFor(service, guessed)
    const before = await count(service, 'select count(*) as n from attempts')
    const refusals = await together(guesses, (n) => join(service, guessed, { authenticationCode: wrong(secret, n) }))
    const evaluated = (await count(service, 'select count(*) as n from attempts')) - before
    if (evaluated !== 5) failures.push(`${guesses} guesses at once: ${evaluated} were evaluated, not 5`)
    // What is too much at once is told to come back, before it is looked at.
    const told = refusals.find(({ status }) => ![400, 429, 503].includes(status))
    if (told) failures.push(`a guess was answered ${told.status}`)
    const { status } = await join(service, guessed, { authenticationCode: secret })
    if (status !== 400) failures.push(`the right code, after its tries were used up: ${status}`)

    const flooded = newEmail()
    const sent = (await together(mails, () => askForCode(service, flooded))).filter(({ status }) => status === 201)
    if (sent.length !== MAILS.most)
      failures.push(`${mails} mails asked for at once: ${sent.length} sent, not ${MAILS.most}`)
  }
  return {
    figures: [
      { tried: `races of ${joins} sign-ups with one code`, times: rounds, found: 'one member each' },
      { tried: `floods of ${guesses} guesses at once`, times: rounds, found: 'five evaluated each' },
      { tried: `floods of ${mails} mails asked for at once`, times: rounds, found: `${MAILS.most} sent each` },
    ].map((figure) => (failures.length > 0 ? { ...figure, found: 'see below' } : figure)),
    failures,
  }
}

/** Guesses as long as one is let: what is measured here is what the odds are made of. */
const guess = async (service: Service): Promise<Findings> => {
  const email = newEmail()
  let evaluated = 0
  let digits = 0
  for (let mail = 0; mail < MAILS.most; mail++) {
    const code = await codeFor(service, email)
    digits = code.length
    const before = await count(service, 'select count(*) as n from attempts')
    for (let n = 0; n < 10; n++) await join(service, email, { authenticationCode: wrong(code, n) })
    evaluated += (await count(service, 'select count(*) as n from attempts')) - before
  }
  const { status } = await join(service, email, { authenticationCode: '000000' })
  const odds = 1 - (1 - 10 ** -digits) ** evaluated
  const failures: string[] = []
  if (evaluated !== CODE_TRIES.most)
    failures.push(`${evaluated} guesses were evaluated in a day, not ${CODE_TRIES.most}`)
  if (status !== 429) failures.push(`a guess after the last one of the day: ${status}, not 429`)
  const hours = CODE_TRIES.within / 3_600_000
  return {
    figures: [
      {
        tried: `guesses of codes of ${digits} digits that are evaluated in ${hours} hours, of 50`,
        times: evaluated,
        found: `odds of one in ${Math.round(1 / odds).toLocaleString('en')} a day`,
      },
    ],
    failures,
  }
}

/** Logins that fail because nobody has the e-mail, and because the password is wrong, by turns: as alike as can be. */
const time = async (service: Service, { quick, seed, progress }: Run): Promise<Findings> => {
  const pairs = quick ? 100 : 1_000
  const { memberId } = await signUp(service)
  // Members by the row, with a real hash: none of them has tried to log in before.
  await service.database
    .prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
       insert into members (email, name, passwordHash, createdAt, updatedAt)
       select printf('known-%05d@torture.example', i), 'Reader', passwordHash, createdAt, updatedAt from n, members where memberId = ?1`,
    )
    .bind(memberId, pairs)
    .run()
  const failures: string[] = []
  const times = { known: [] as number[], unheard: [] as number[] }
  const shown = { known: new Set<string>(), unheard: new Set<string>() }
  let asked = 0
  const sample = async (kind: 'known' | 'unheard', n: number) => {
    const email = `${kind === 'known' ? 'known' : 'never'}-${String(n).padStart(5, '0')}@torture.example`
    const network = `172.16.${asked >> 8}.${asked++ & 255}`
    const request = withJson('POST', '/login', { email, password: `${PASSWORD}-wrong` }, { network })
    const start = performance.now()
    const { status, headers, body } = await service.ask(request)
    times[kind].push(performance.now() - start)
    const told = [...headers].filter(([name]) => name !== 'x-request-id')
    shown[kind].add(JSON.stringify([status, told, body]))
  }
  for (const [at, [first, second]] of shuffledPairs(pairs, seed, ['known', 'unheard'] as const).entries()) {
    if (at % 250 === 0) progress(`timing logins, ${at * 2} of ${pairs * 2}`)
    await sample(first, at + 1)
    await sample(second, at + 1)
  }
  const t = furthestWelch(times.known, times.unheard)
  const all = new Set([...shown.known, ...shown.unheard])
  if (Math.abs(t) >= 4.5)
    failures.push(`unknown accounts can be told from wrong passwords by time: t = ${t.toFixed(2)}`)
  if (all.size !== 1) failures.push(`unknown accounts can be told from wrong passwords: ${[...all].join(' and ')}`)
  return {
    figures: [
      {
        tried: 'logins, unknown account and wrong password by turns',
        times: pairs * 2,
        found: `Welch t = ${t.toFixed(2)}, limit 4.5`,
      },
      { tried: 'of these, different answers, headers and all', times: pairs * 2, found: `${all.size - 1}` },
      {
        tried: `failed logins of an account and a network in ${LOGINS.within / 60_000} minutes`,
        times: await failLogins(service),
        found: 'hashed, then 429',
      },
    ],
    failures,
  }
}

/** How many wrong passwords are looked at when they come at once. */
const failLogins = async (service: Service) => {
  const { email } = await signUp(service)
  const answers = await together(40, () =>
    service.ask(withJson('POST', '/login', { email, password: 'wrong' }, { network: '192.0.2.1' })),
  )
  return answers.filter(({ status }) => status === 401).length
}

export const codes: Part = async (run) => {
  const strict = await run.start({ vars: { EMAIL_VERIFICATION: undefined } })
  const raced = await race(strict, run)
  run.progress('guessing for a day')
  const guessed = await guess(strict)
  const timed = await time(await run.start(), run)
  const all = [raced, guessed, timed]
  return { figures: all.flatMap(({ figures }) => figures), failures: all.flatMap(({ failures }) => failures) }
}
