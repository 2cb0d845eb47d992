import { readAsset } from '../../storage/assets'
import { escapeXml } from '../../values/text/xml'
import type { Mail } from './texts'

/** The static file with the templates: templates.ts. */
export const TEMPLATES_FILE = 'mails.json'

/** A mail in which `{name}` stands for a value. */
export type Template = Record<'subject' | 'text' | 'html', string>

/** The name of the template of a mail. Values can also decide on whole paragraphs. */
export const variantOf = (mail: Mail) => {
  if (mail.kind === 'emailChange' && mail.isReturn) return 'emailReturn'
  return mail.kind === 'emailRestored' && mail.code ? 'emailRestoredByReturn' : mail.kind
}

/** Masks an address so that only its owner recognizes it, such as `j***@example.com`. */
export const maskEmail = (email: string) => email.replace(/^(.).*(?=@)/, '$1***')

const toValues = (mail: Mail) =>
  Object.fromEntries(
    Object.entries(mail).map(([name, value]) => [name, /email$/i.test(name) ? maskEmail(value) : String(value)]),
  )
const escapeHtml = (text: string) => escapeXml(text).replaceAll('"', '&quot;')

/**
 * Subject, text and HTML of a mail.
 * @throws UNAVAILABLE when the templates cannot be read
 */
export const compose = async (assets: Fetcher, mail: Mail): Promise<Template> => {
  const bytes = await readAsset(assets, TEMPLATES_FILE, 'mail')
  const templates: Record<string, Template> = JSON.parse(new TextDecoder().decode(bytes))
  const template = templates[variantOf(mail)] as Template
  const values = toValues(mail)
  const fill = (text: string, toShown = (value: string) => value) =>
    text.replaceAll(/\{(\w+)\}/g, (_, name) => toShown(values[name] ?? ''))
  return { subject: fill(template.subject), text: fill(template.text), html: fill(template.html, escapeHtml) }
}
