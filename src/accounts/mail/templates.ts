// Writes the templates of all mails, before bundling: compose.ts fills them. Their texts would be a sixtieth of the Worker.
import { html } from 'hono/html'
import { type Template, variantOf } from './compose'
import { type Content, type Mail, TEXTS } from './texts'

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

/** A mail of each template, with the names of its values. */
const MAILS: Mail[] = [
  { kind: 'verification', code: '{code}' },
  { kind: 'passwordReset', code: '{code}' },
  { kind: 'passwordWasReset' },
  { kind: 'emailChange', code: '{code}', isReturn: false },
  { kind: 'emailChange', code: '{code}', isReturn: true },
  { kind: 'emailChanged', undoCode: '{undoCode}', newEmail: '{newEmail}' },
  { kind: 'emailTaken' },
  { kind: 'emailRestored' },
  { kind: 'emailRestored', code: '{code}' },
  { kind: 'emailReplaced', restoredEmail: '{restoredEmail}' },
  { kind: 'tokenCreated', tokens: '{tokens}', links: '{links}' },
]

/** In all languages: the request, which may be a thief's, must not choose one. */
const toTemplate = (mail: Mail): Template => {
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

/** By `variantOf`. */
export const toTemplates = () => Object.fromEntries(MAILS.map((mail) => [variantOf(mail), toTemplate(mail)]))
