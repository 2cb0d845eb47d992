import { createTransport } from 'nodemailer'
import { print } from '../print.ts'

/** What the service passes to the binding EMAIL. */
export type Mail = { from: { name: string; email: string }; to: string; subject: string; text: string; html?: string }

/** Shorter than the time in which the service gives up (`DEADLINES.mail`), so that the log has the reason. */
const TIMEOUT_MS = 8000

const printMail = async ({ to, subject, text }: Mail) => print(`Mail to ${to}: ${subject}\n${text}`)

/** Returns a function that sends a mail over SMTP, or prints it without a URL. */
export const createMailer = (smtpUrl: string | undefined) => {
  if (!smtpUrl) return printMail
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return async ({ from, to, subject, text, html }: Mail) => {
    // As objects: a text is read as a list of addresses.
    const addresses = { from: { name: from.name, address: from.email }, to: { name: '', address: to } }
    await transport.sendMail({ ...addresses, subject, text, html })
  }
}
