import { html } from 'hono/html'
import type { Mail } from './mail'
import { type Content, TEXTS } from './texts'

const toPlainText = ({ body }: Content) =>
  body.map((part) => (typeof part === 'string' ? part : part.code)).join('\n\n')

const toHtml = (language: string, { body }: Content) => {
  const paragraphs = body.map((part) =>
    typeof part === 'string'
      ? html`<p>${part}</p>\n`
      : html`<p style="font-family:monospace;font-size:1.5em;overflow-wrap:anywhere"><b>${part.code}</b></p>\n`,
  )
  return html`<div lang="${language}">
${paragraphs}</div>
`
}

/**
 * Subject, text and HTML of a mail, each in all languages: the recipient's is unknown, and the request, which may be a
 * stranger's or a thief's, must not choose it.
 */
export const compose = (mail: Mail) => {
  const contents = Object.entries(TEXTS).map(([language, texts]) => {
    // TypeScript does not relate the kind of the mail to that of the text.
    const write = texts[mail.kind] as (mail: Mail) => Content
    return [language, write(mail)] as const
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
