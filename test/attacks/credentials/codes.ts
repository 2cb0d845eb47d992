// Verification codes and logins: race conditions, guessing and timing.
import { type Attack, type Context, concurrently, createChecks, mergeReports, type Report } from '../harness/attack'
import { joinWith, newEmail, receiveCode, requestCode, wrongCode } from '../harness/members'
import type { Service } from '../harness/service'
import { blockChange, lockOut } from './lockout'
import { timeLogins, timeLoginsOfSlots } from './login-times'

/** Mails an hour to an address, and tries of a code, from one network. */
const [MAILS, TRIES] = [5, 5]

const countRows = async (database: D1Database, from: string) =>
  (await database.prepare(`select count(*) as n from ${from}`).first<number>('n')) ?? 0

const race = async (service: Service, { quick, progress }: Context): Promise<Report> => {
  const [rounds, joins, guesses, mails] = quick ? [1, 10, 40, 10] : [20, 50, 1_000, 30]
  const { failures, check } = createChecks()
  for (let round = 0; round < rounds; round++) {
    progress(`races, round ${round + 1} of ${rounds}`)
    const email = newEmail()
    const code = await receiveCode(service, email)
    const joined = await concurrently(joins, () => joinWith(service, email, code))
    const created = joined.filter(({ status }) => status === 201).length
    check(`${joins} sign-ups with one code: responses with 201`, created, 1)
    check('members created', await countRows(service.database, `members where email = '${email}'`), 1)
    const unexpected = joined.find(({ status }) => ![201, 400, 409].includes(status))
    check('unexpected response to a sign-up', unexpected?.status, undefined)

    const guessed = newEmail()
    const secret = await receiveCode(service, guessed)
    const before = await countRows(service.directory, 'attempts')
    // One network alone would reach the limit of requests.
    const guessers = [1, 2, 3, 4].map((n) => `172.18.${round}.${n}`)
    const responses = await concurrently(guesses, (n) =>
      joinWith(service, guessed, wrongCode(secret, n), guessers[n % 4]),
    )
    // Each guess is counted for its network and for the address.
    const evaluated = ((await countRows(service.directory, 'attempts')) - before) / 2
    check(`guesses evaluated, of ${guesses} concurrent ones`, evaluated, 4 * TRIES)
    const other = responses.find(({ status }) => ![400, 429, 503].includes(status))
    check('unexpected response to a guess', other?.status, undefined)
    const { status: used } = await joinWith(service, guessed, secret, guessers[0])
    check('the right code from a network that has used up its attempts', used, 400)
    check('the right code from another network', (await joinWith(service, guessed, secret)).status, 201)

    const flooded = newEmail()
    const requested = await concurrently(mails, () => requestCode(service, flooded, `172.18.${round}.5`))
    const sent = requested.filter(({ status }) => status === 201).length
    check(`mails sent, of ${mails} concurrent requests`, sent, MAILS)
  }
  const result = (text: string) => (failures.length > 0 ? 'failed' : text)
  return {
    figures: [
      [`races of ${joins} sign-ups with one code`, rounds, result('one member each')],
      [`bursts of ${guesses} concurrent guesses`, rounds, result('five evaluated for each of four networks')],
      [`bursts of ${mails} concurrent requests for a mail`, rounds, result(`${MAILS} sent each`)],
    ],
    failures,
  }
}

/** Guesses codes from a number of networks until a daily limit, and computes the odds of guessing one. */
const guess = async (service: Service, networks: number, expected: number): Promise<Report> => {
  const email = newEmail()
  const guessers = Array.from({ length: networks }, (_, n) => `172.19.${networks}.${n}`)
  const before = await countRows(service.directory, 'attempts')
  let mails = 0
  let code = ''
  // One network guesses each of four codes five times; twenty networks guess twenty codes that are valid at once.
  for (let round = 0; round < (networks === 1 ? 4 : 1); round++) {
    for (const guesser of guessers) {
      code = await receiveCode(service, email, guesser)
      mails += 1
    }
    for (const guesser of guessers) {
      for (let n = 0; n <= TRIES; n++) await joinWith(service, email, wrongCode(code, n), guesser)
    }
  }
  const rows = await countRows(service.directory, 'attempts')
  // Each mail is counted three times, each guess twice.
  const evaluated = (rows - before - 3 * mails) / 2
  const { status } = await joinWith(service, email, '000000', guessers[0])
  const odds = 1 - (1 - networks / 10 ** code.length) ** evaluated
  const { failures, check } = createChecks()
  check('guesses evaluated', evaluated, expected)
  check('a guess above the daily limit', status, 429)
  const what = `guesses of ${code.length}-digit codes evaluated in a day, from ${networks} network${networks > 1 ? 's' : ''}`
  return {
    figures: [[what, evaluated, `odds of 1 in ${Math.round(1 / odds).toLocaleString('en')} per address and day`]],
    failures,
  }
}

export const codes: Attack = async (context) => {
  const verifying = await context.start({ vars: { EMAIL_VERIFICATION: undefined } })
  const raced = await race(verifying, context)
  context.progress('guessing codes up to the daily limit')
  const guessed = mergeReports(await guess(verifying, 1, 20), await guess(verifying, 20, 100))
  context.progress('locking out and flooding others')
  const locked = await lockOut(
    await context.start({ vars: { EMAIL_VERIFICATION: undefined } }),
    context.quick ? 40 : 600,
  )
  const blocked = await blockChange(await context.start())
  return mergeReports(raced, guessed, locked, blocked, await timeLogins(context), await timeLoginsOfSlots(context))
}
