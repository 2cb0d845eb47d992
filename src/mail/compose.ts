import { html } from 'hono/html'
import type { Language } from '../http/language'
import type { Mail } from './mail'
import { type Content, TEXTS } from './texts'

/** Subject, text and HTML of a mail. */
export const compose = (language: Language, mail: Mail) => {
  // TypeScript does not relate the kind of the mail to that of the text.
  const write = TEXTS[language][mail.kind] as (mail: Mail) => Content
  const { subject, body } = write(mail)
  const paragraphs = body.map((part) =>
    typeof part === 'string'
      ? html`<p>${part}</p>\n`
      : html`<p style="font-family:monospace;font-size:1.5em;overflow-wrap:anywhere"><b>${part.code}</b></p>\n`,
  )
  return {
    subject,
    text: `${body.map((part) => (typeof part === 'string' ? part : part.code)).join('\n\n')}\n`,
    html: String(html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font-family:sans-serif">
${paragraphs}</body>
</html>
`),
  }
}
