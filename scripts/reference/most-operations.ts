// What most operations have in common, which the page does not repeat in each of them.
import { type Document, type Endpoint, resolve, type Schema } from './document.ts'
import { html } from './html.ts'
import type { Markdown } from './markdown.ts'

/** The names that at least half of the operations have. */
const namesOfMost = (names: string[][]) => {
  const counts = new Map<string, number>()
  for (const name of names.flatMap((each) => [...new Set(each)])) counts.set(name, (counts.get(name) ?? 0) + 1)
  return new Set([...counts].filter(([, count]) => count >= names.length / 2).map(([name]) => name))
}

/** The common request headers, response headers and error codes. */
export const findCommon = (document: Document, endpoints: Endpoint[]) => {
  const sent = endpoints.map(({ parameters = [] }) =>
    parameters
      .map((parameter) => resolve(document, parameter))
      .flatMap((each) => (each.in === 'header' ? each.name : [])),
  )
  const responses = endpoints.map((endpoint) => Object.values(endpoint.responses))
  const received = responses.map((all) => all.flatMap(({ headers = {} }) => Object.keys(headers)))
  const errors = responses.map((all) =>
    all.flatMap(({ content = {} }) => Object.keys(content['application/json']?.examples ?? {})),
  )
  return { sent: namesOfMost(sent), received: namesOfMost(received), errors: namesOfMost(errors) }
}
export type Common = ReturnType<typeof findCommon>

export const toHeaderSection = (document: Document, markdown: Markdown, { sent, received }: Common) => {
  const toList = (names: Set<string>, kind: 'parameters' | 'headers') =>
    html`<ul class="fields">${[...names].map((name) => {
      const { description = '' } = resolve<Schema>(document, { $ref: `#/components/${kind}/${name}` })
      return html`<li><p class="field"><code>${name}</code></p>${markdown.toHtml(description)}</li>`
    })}</ul>`
  return html`<p>Most operations have these headers. They are not repeated below.</p>
    <h3>Request</h3>${toList(sent, 'parameters')}<h3>Response</h3>${toList(received, 'headers')}`
}
