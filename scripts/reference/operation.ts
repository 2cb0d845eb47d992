// Shows an operation: what it does, its parameters, body and responses, code samples, and a form to try it.

import {
  type Document,
  type Endpoint,
  type Header,
  isSuccess,
  type Media,
  type Parameter,
  resolve,
} from './document.ts'
import type { Fields } from './fields.ts'
import { type Html, html } from './html.ts'
import { COPY, type Markdown } from './markdown.ts'
import type { Common } from './most-operations.ts'

const toText = (example: unknown) => (typeof example === 'string' ? example : JSON.stringify(example, null, 2))

const PLACES = { path: 'Path parameters', query: 'Query parameters', header: 'Request headers' }

export const createOperation = (document: Document, markdown: Markdown, fields: Fields, common: Common) => {
  const { toType, toLimits, toDescription, toFields } = fields

  const parametersOf = ({ parameters = [] }: Endpoint) =>
    parameters.map((parameter) => resolve(document, parameter)).filter(({ name }) => !common.sent.has(name))

  const toParameter = ({ name, schema, required, description }: Parameter) => html`<li>
    <p class="field"><code>${name}</code> <span class="type">${toType(schema)}</span>
    ${required && html` <span class="presence">required</span>`}</p>
    ${toDescription({ ...schema, description: description ?? '' })}${toLimits(schema, true)}</li>`

  const toParameters = (endpoint: Endpoint) =>
    Object.entries(PLACES).map(([place, title]) => {
      const parameters = parametersOf(endpoint).filter((parameter) => parameter.in === place)
      return parameters.length > 0 && html`<h4>${title}</h4><ul class="fields">${parameters.map(toParameter)}</ul>`
    })

  const toContent = (content: Record<string, Media>, isSent: boolean) => {
    const types = Object.keys(content)
    const schema = Object.values(content)[0]?.schema
    return html`<p class="media">${types.map((type, at) => html`${at > 0 && ', '}<code>${type}</code>`)}${schema && html`: ${toType(schema)}`}</p>${schema && toType(schema) !== 'file' && toFields(schema, isSent)}`
  }

  const toBody = ({ requestBody }: Endpoint) =>
    requestBody && html`<h4>Body</h4>${toContent(requestBody.content, true)}`

  const toHeaders = ({ responses }: Endpoint) => {
    const statuses = new Map<string, string[]>()
    for (const [status, { headers = {} }] of Object.entries(responses)) {
      for (const name of Object.keys(headers)) statuses.set(name, [...(statuses.get(name) ?? []), status])
    }
    const own = [...statuses].filter(([name]) => !common.received.has(name))
    const list = own.map(([name, returned]) => {
      const header = document.components.headers?.[name] as Header
      return html`<li><p class="field"><code>${name}</code> <span class="type">${returned.join(', ')}</span></p>
        ${markdown.toHtml(header.description)}</li>`
    })
    return html`<h4>Response headers</h4>${list.length > 0 && html`<ul class="fields">${list}</ul>`}
      <p class="more">${list.length > 0 ? 'And the' : 'The'} <a href="#common-headers">common headers</a>.</p>`
  }

  const toSuccess = ([status, { description, content }]: [string, Endpoint['responses'][string]]) => html`
    <h4>Response <code>${status}</code></h4>${markdown.toHtml(description)}${content && toContent(content, false)}`

  /** The errors. The code of each links to its row in the introduction. */
  const toErrors = ({ responses }: Endpoint) => {
    const errors = Object.entries(responses).flatMap(([status, { content = {} }]) => {
      const { schema, examples = {} } = content['application/json'] ?? {}
      const ownSchema = schema && toType(schema) !== 'ErrorResponse' ? schema : undefined
      return Object.entries(examples).map(([code, example]) => {
        const link = html`<a href="#${code}"><code>${code}</code></a>`
        return { status, code, link, message: resolve(document, example).summary, ownSchema }
      })
    })
    const [own, others] = [false, true].map((isCommon) =>
      errors.filter(({ code }) => common.errors.has(code) === isCommon),
    )
    const list = own?.map(
      ({ status, link, message, ownSchema }) => html`<li><span class="status">${status}</span> ${link} ${message}
        ${ownSchema && html`<details><summary>${toType(ownSchema)}</summary>${toFields(ownSchema, false)}</details>`}</li>`,
    )
    return (
      errors.length > 0 &&
      html`<h4>Errors</h4><ul class="errors">${list}</ul>
        <p class="more">${others?.map(({ status, link }) => html`<span>${status} ${link}</span> `)}</p>`
    )
  }

  const toSamples = (endpoint: Endpoint) => {
    const samples = endpoint['x-codeSamples']
    const [status, success] = Object.entries(endpoint.responses).find(([each]) => isSuccess(each)) ?? []
    const example = Object.values(success?.content ?? {})[0]?.example
    return html`<div class="samples">
      <div class="sample"><div class="tabs">
      ${samples.map(({ label }) => html`<button type="button" class="language" data-language="${label}">${label}</button>`)}
      ${COPY}</div>
      ${samples.map(({ label, source }) => html`<pre tabindex="0" data-language="${label}"><code>${source}</code></pre>`)}</div>
      ${example !== undefined && html`<div class="sample"><div class="tabs"><span>Response ${status}</span></div><pre tabindex="0"><code>${toText(example)}</code></pre></div>`}
      </div>`
  }

  const toInput = (place: string, { name, schema, required, example }: Parameter) => {
    const values = resolve(document, schema).enum
    const hint = example === undefined ? '' : String(example)
    const control = values
      ? html`<select data-in="${place}" name="${name}"><option></option>${values.map((value) => html`<option${required && value === hint && html` selected`}>${value}</option>`)}</select>`
      : html`<input data-in="${place}" name="${name}"${required && html` required value="${hint}"`} placeholder="${hint}">`
    return html`<label>${name}${required && ' *'} ${control}</label>`
  }

  const toBodyInput = ([type, { schema, example }]: [string, Media]) => {
    if (type !== 'multipart/form-data') {
      return html`<label>Body <textarea data-in="body" data-type="${type}" rows="6" spellcheck="false">${toText(example)}</textarea></label>`
    }
    return html`${Object.entries(schema?.properties ?? {}).map(([name, { format }]) => {
      const isFile = format === 'binary'
      return html`<label>${name}${isFile && ' *'} <input data-in="form" name="${name}"${isFile && html` type="file" required`}></label>`
    })}`
  }

  const toForm = (endpoint: Endpoint) => {
    const [content] = Object.entries(endpoint.requestBody?.content ?? {})
    return html`<details class="try"><summary>Try it</summary>
      <form data-method="${endpoint.method}" data-path="${endpoint.path}"${endpoint.operationId === 'withdraw' && html` data-confirm="Delete the account and everything in it?"`}>
      ${parametersOf(endpoint).map((parameter) => toInput(parameter.in, parameter))}${content && toBodyInput(content)}
      <button>Send</button><div class="answer" role="status"></div></form></details>`
  }

  return (endpoint: Endpoint): Html => {
    const { operationId, summary, description, method, path, responses, security } = endpoint
    const successes = Object.entries(responses).filter(([status]) => isSuccess(status))
    return html`<article id="${operationId}" data-search="${summary}"><header>
      <h3>${summary} <a class="anchor" href="#${operationId}" aria-label="Link to ${summary}">#</a></h3>
      <p class="path"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path.split('/').flatMap((segment, at) => (at > 0 ? [html`/<wbr>`, segment] : []))}</code></p>
      <p class="name"><code>${operationId}</code> · ${security.length > 0 ? html`<a href="#tokens">needs a token</a>` : 'needs no token'}</p>
      </header><div class="columns"><div class="description">${markdown.toHtml(description)}${toForm(endpoint)}</div>
      ${toSamples(endpoint)}<div>${toParameters(endpoint)}${toBody(endpoint)}${successes.map(toSuccess)}${toErrors(endpoint)}${toHeaders(endpoint)}
      </div></div></article>`
  }
}
