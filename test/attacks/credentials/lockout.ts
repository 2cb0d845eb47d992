// A stranger tries to keep others from signing up and from changing their address, and to flood mailboxes, from one network.
import { setTimeout } from 'node:timers/promises'
import { createChecks, mapConcurrently, type Report } from '../harness/attack'
import {
  joinWith,
  jsonRequest,
  newEmail,
  PASSWORD,
  receiveCode,
  requestCode,
  signUp,
  wrongCode,
} from '../harness/members'
import type { Service } from '../harness/service'

const [OWNER, OWNER_ELSEWHERE, STRANGER, TAGGER] = ['192.0.2.10', '192.0.2.11', '198.51.100.1', '198.51.100.2']
/** An IPv6 /48, which one customer may hold. */
const SITE = '2001:db8:7'

export const lockOut = async (service: Service, mails: number): Promise<Report> => {
  const { failures, check } = createChecks()
  const email = newEmail()
  const code = await receiveCode(service, email, OWNER)
  let requests = 0
  for (; requests < 24; requests++) {
    if (requests % 6 === 0) await requestCode(service, email, STRANGER)
    else await joinWith(service, email, wrongCode(code, requests), STRANGER)
  }
  const { status: joined } = await joinWith(service, email, code, OWNER_ELSEWHERE)
  check(`the owner's sign-up from another network, after ${requests} requests of a stranger`, joined, 201)

  const recipients = Array.from({ length: mails }, (_, n) => `victim-${n}@attack.example`)
  const responses = await mapConcurrently(20, recipients, (to) => requestCode(service, to, STRANGER))
  const sent = responses.filter(({ status }) => status === 201).length
  // Four of the thirty went to the owner.
  check('mails sent from one network', sent, 26)

  const tagged = Array.from({ length: 30 }, (_, n) => `victim+${n}@attack.example`)
  const toMailbox = await mapConcurrently(20, tagged, (to) => requestCode(service, to, TAGGER))
  const received = toMailbox.filter(({ status }) => status === 201).length
  check('mails sent to addresses of one mailbox, from one network', received, 5)

  const checks = Array.from({ length: 60 }, (_, n) => ({ email, password: 'wrong', network: `${SITE}:${n}::1` }))
  const logins = await mapConcurrently(4, checks, ({ network, ...body }) =>
    service.request(jsonRequest('POST', '/login', body, { network })),
  )
  const evaluated = logins.filter(({ status }) => status === 401).length
  check('failed logins from one IPv6 /48', evaluated, 30)
  return {
    figures: [
      ['a stranger’s requests for an address, before its owner signs up from another network', requests, `${joined}`],
      [`mails requested to ${mails} addresses from one network`, recipients.length, `${sent} sent`],
      ['mails requested to 30 addresses that differ in their tag, from one network', tagged.length, `${received} sent`],
      ['failed logins from 60 networks of one IPv6 /48', checks.length, `${evaluated} evaluated`],
    ],
    failures,
  }
}

/** Waits for a number of mails that confirm a new address. */
const waitForMails = async (service: Service, expected: number) => {
  const count = () => service.mails().filter((mail) => /\b[0-9A-Z]{5}-[0-9A-Z]{5}\b/.test(mail)).length
  for (let attempt = 0; attempt < 100 && count() < expected; attempt++) await setTimeout(20)
  return count()
}

/** A stranger who is a member requests the address that a reader wants to change to. */
export const blockChange = async (service: Service): Promise<Report> => {
  const { failures, check } = createChecks()
  const [stranger, reader, email] = [await signUp(service), await signUp(service), newEmail()]
  service.secrets.add(email)
  const request = ({ token }: typeof reader, network: string) =>
    service.request(jsonRequest('POST', '/email/change', { email, password: PASSWORD }, { token, network }))
  for (let n = 0; n < 3; n++) check('a request of the stranger', (await request(stranger, STRANGER)).status, 202)
  check('mails for the stranger', await waitForMails(service, 2), 2)
  check('the request of the reader', (await request(reader, OWNER)).status, 202)
  const mails = await waitForMails(service, 3)
  check('mails after the request of the reader', mails, 3)
  const result = mails === 3 ? 'the code arrives' : 'no code arrives'
  return { figures: [['a stranger’s changes to an address that another member requests then', 3, result]], failures }
}
