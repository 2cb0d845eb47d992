// Renders the Markdown of the document. HTML in it is shown as text.
import { Marked, type Tokens } from 'marked'
import { escapeHtml, Html, html } from './html.ts'

/** Copies the code of the sample around it. */
export const COPY = html`<button type="button" class="copy">Copy</button>`

export const toId = (title: string) => title.toLowerCase().replaceAll(' ', '-')

/** @param ids the identifiers on the page: code that is one of them becomes a link */
export const createMarkdown = (ids: Set<string>) => {
  const marked = new Marked({
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
      codespan: ({ text }) => {
        const code = html`<code>${text}</code>`
        return (ids.has(text) ? html`<a href="#${text}">${code}</a>` : code).text
      },
      code: ({ text, lang }) => {
        const code = html`<pre tabindex="0"><code>${text}</code></pre>`
        return (lang === 'sh' ? html`<div class="sample"><div class="tabs">${COPY}</div>${code}</div>` : code).text
      },
      link({ href, tokens }) {
        const text = new Html(this.parser.parseInline(tokens))
        return (/^(?:https?:|mailto:|#)/.test(href) ? html`<a href="${href}">${text}</a>` : text).text
      },
      image: ({ text }) => escapeHtml(text),
    },
  })
  const toHtml = (text: string) => new Html(marked.parse(text, { async: false }))

  /** The sections below the headings of the second level. What precedes them is the first, without a title. */
  const toSections = (text: string) =>
    text.split(/^## /m).map((section, at) => {
      const [title = '', ...lines] = at === 0 ? ['', section] : section.split('\n')
      return { title, content: toHtml(lines.join('\n')) }
    })
  return { toHtml, toSections }
}
export type Markdown = ReturnType<typeof createMarkdown>
