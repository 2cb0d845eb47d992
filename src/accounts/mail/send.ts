import { html } from 'hono/html'
import type { Bindings, Config } from '../../env'
import { unavailable } from '../../errors'
import { DEADLINES } from '../../runtime/deadlines'
import { withTimeout } from '../../runtime/retry'
import { type Content, type Mail, SENDER_NAME, TEXTS } from './texts'

type Shown = { body: Exclude<Content['body'][number], false>[] }

const toPlainText = ({ body }: Shown) =>
  body.map((paragraph) => (typeof paragraph === 'string' ? paragraph : paragraph.code)).join('\n\n')

const toHtml = (language: string, { body }: Shown) => {
  const paragraphs = body.map((paragraph) =>
    typeof paragraph === 'string'
      ? html`<p>${paragraph}</p>\n`
      : html`<p style="font-family:monospace;font-size:1.5em;overflow-wrap:anywhere"><b>${paragraph.code}</b></p>\n`,
  )
  return html`<div lang="${language}">
${paragraphs}</div>
`
}

/** Subject, text and HTML, each in all languages: the request, which may be a thief's, must not choose one. */
export const compose = (mail: Mail) => {
  const contents = Object.entries(TEXTS).map(([language, texts]) => {
    // TypeScript does not relate the kind of the mail to that of the text.
    const write = texts[mail.kind] as (mail: Mail) => Content
    const { subject, body } = write(mail)
    return [language, { subject, body: body.filter((paragraph) => paragraph !== false) }] as const
  })
  const subject = contents.map(([, content]) => content.subject).join(' / ')
  return {
    subject,
    text: `${contents.map(([, content]) => toPlainText(content)).join('\n\n---\n\n')}\n`,
    html: String(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font-family:sans-serif">
${contents.map(([language, content], index) => [index > 0 ? html`<hr>\n` : '', toHtml(language, content)])}</body>
</html>
`),
  }
}

/**
 * Checks that mails can be sent, for requests that depend on it. Returns the sender's address.
 * @throws UNAVAILABLE without MAIL_FROM or the binding EMAIL
 */
export const requireMailer = (config: Config, env: Bindings) => {
  if (!config.MAIL_FROM)
    throw unavailable('mail: MAIL_FROM is missing: set it to an address of a domain that is set up for sending')
  if (!env.EMAIL) throw unavailable('mail: the binding EMAIL is missing: restore it in wrangler.toml')
  return config.MAIL_FROM
}

/**
 * Sends a mail. Never retried, because a second mail is more confusing than none.
 * @throws UNAVAILABLE when it cannot be sent
 */
export const sendMail = async (env: Bindings, config: Config, to: string, mail: Mail) => {
  const from = { email: requireMailer(config, env), name: SENDER_NAME }
  try {
    await withTimeout(DEADLINES.mail, () => env.EMAIL.send({ from, to, ...compose(mail) }))
  } catch (error) {
    // The mail provider's message may contain the address, which must not be logged.
    throw unavailable(`mail: ${String(error).replaceAll(/\S+@\S+/g, '(address)')}`)
  }
}
