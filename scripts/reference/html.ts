// Builds HTML: whatever is put into a template is escaped, except other HTML.

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = Html | string | number | false | undefined | Value[]

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

const toText = (value: Value): string => {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(toText).join('')
  return value === undefined || value === false ? '' : escapeHtml(String(value))
}

/** A template of HTML. Nothing is shown for `undefined` and `false`. */
export const html = (parts: TemplateStringsArray, ...values: Value[]) =>
  new Html(parts.map((part, at) => part.replace(/\n\s*/g, '\n') + toText(values[at])).join(''))
