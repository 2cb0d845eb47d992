// A stranger tries to keep others from signing up, and to flood mailboxes, from one network.
import { createChecks, mapConcurrently, type Report } from './attack'
import { joinWith, jsonRequest, newEmail, receiveCode, requestCode, wrongCode } from './members'
import type { Service } from './service'

const [OWNER, OWNER_ELSEWHERE, STRANGER] = ['192.0.2.10', '192.0.2.11', '198.51.100.1']
/** An IPv6 /48, which one customer may hold. */
const SITE = '2001:db8:7'

export const lockOut = async (service: Service): Promise<Report> => {
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

  const recipients = Array.from({ length: 600 }, (_, n) => `victim+${n}@attack.example`)
  const responses = await mapConcurrently(20, recipients, (to) => requestCode(service, to, STRANGER))
  const sent = responses.filter(({ status }) => status === 201).length
  // Four of the thirty went to the owner.
  check('mails sent from one network', sent, 26)

  const checks = Array.from({ length: 60 }, (_, n) => ({ email, password: 'wrong', network: `${SITE}:${n}::1` }))
  const logins = await mapConcurrently(4, checks, ({ network, ...body }) =>
    service.request(jsonRequest('POST', '/login', body, { network })),
  )
  const evaluated = logins.filter(({ status }) => status === 401).length
  check('failed logins from one IPv6 /48', evaluated, 30)
  return {
    figures: [
      ['a stranger’s requests for an address, before its owner signs up from another network', requests, `${joined}`],
      ['mails requested to 600 addresses from one network', recipients.length, `${sent} sent`],
      ['failed logins from 60 networks of one IPv6 /48', checks.length, `${evaluated} evaluated`],
    ],
    failures,
  }
}
