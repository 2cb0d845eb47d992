import { setTimeout } from 'node:timers/promises'
import { jsonRequest } from './members'
import type { Service } from './service'

const sent = new WeakMap<Service, number>()

export const requestCode = async (service: Service, email: string) => {
  const response = await service.request(jsonRequest('POST', '/email/join', { joinAuthCodeEmail: email }))
  if (response.status === 201) sent.set(service, (sent.get(service) ?? 0) + 1)
  return response
}

/** Waits until every sent mail has its text: a mail's file exists before its content. */
const readAllMails = async (service: Service) => {
  for (let attempt = 0; attempt < 500; attempt++) {
    const mails = service.mails().filter((mail) => mail !== '')
    if (mails.length === (sent.get(service) ?? 0)) return mails
    await setTimeout(20)
  }
  throw new Error('Not every sent mail arrived')
}

/** Requests a verification code and reads it from the mail. */
export const receiveCode = async (service: Service, email: string) => {
  const before = new Set(await readAllMails(service))
  const { status } = await requestCode(service, email)
  if (status !== 201) throw new Error(`No code was sent: ${status}`)
  const code = (await readAllMails(service)).find((mail) => !before.has(mail))?.match(/\b\d{6}\b/)?.[0]
  if (!code) throw new Error('The mail contains no code')
  service.secrets.add(email)
  service.codes.add(code)
  return code
}
