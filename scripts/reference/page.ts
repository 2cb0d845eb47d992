// Renders the reference page from the OpenAPI document.

import { type Document, listEndpoints, resolve, type Schema } from './document.ts'
import { createFields } from './fields.ts'
import { Html, html } from './html.ts'
import { createMarkdown, toId } from './markdown.ts'
import { findCommon, toHeaderSection } from './most-operations.ts'
import { createOperation } from './operation.ts'

/** Gives the row that describes an error its code as identifier. */
const addErrorIds = (content: Html) =>
  new Html(content.text.replace(/<tr>\n<td>(?=<a href="#([A-Z_]+)">)/g, '<tr id="$1">\n<td>'))

export const renderPage = (document: Document) => {
  const endpoints = listEndpoints(document)
  const { enum: codes = [] } = resolve<Schema>(document, { $ref: '#/components/schemas/ErrorCode' })
  const markdown = createMarkdown(new Set([...endpoints.map(({ operationId }) => operationId), ...codes]))
  const common = findCommon(document, endpoints)
  const toOperation = createOperation(document, markdown, createFields(document, markdown), common)

  const { title, summary, description } = document.info
  const [overview, ...sections] = markdown.toSections(description)
  const guides = [
    { title: 'Overview', content: overview?.content },
    ...sections.map((section) => ({ ...section, content: addErrorIds(section.content) })),
    { title: 'Common headers', content: toHeaderSection(document, markdown, common) },
  ]
  const groups = document.tags.map((tag) => ({
    ...tag,
    id: `tag-${toId(tag.name)}`,
    endpoints: endpoints.filter(({ tags }) => tags.includes(tag.name)),
  }))
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${summary}">
<title>${title} API</title>
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/theme.css">
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/preferences.js"></script>
<script src="/docs/page.js" type="module"></script>
</head>
<body>
<a class="skip" href="#overview">Skip to the content</a>
<header class="bar">
<button type="button" class="menu" popovertarget="contents">Menu</button>
<a class="title" href="#overview">${title}<span> API</span></a>
<span id="caller" role="status">Not logged in.</span>
<button type="button" popovertarget="token">Token</button>
<button type="button" id="theme" aria-label="Switch between light and dark">◐</button>
</header>
<form id="token" popover aria-label="Token">
<p>After <a href="#logIn">Log in</a> below, this page has the token of the session. Or paste a token here. It is kept until you reload the page.</p>
<label>Token <input type="password" name="token" autocomplete="off" required></label>
<button>Use</button> <button type="button" id="forget">Forget</button>
</form>
<nav id="contents" popover aria-label="Contents">
<div class="search"><input type="search" id="search" placeholder="Search ( / )" aria-label="Search" autocomplete="off"></div>
<div id="results" role="region" aria-label="Search results" aria-live="polite" hidden></div>
<div id="list">
<h2>Guide</h2>
<ul>${guides.map((guide) => html`<li><a href="#${toId(guide.title)}">${guide.title}</a></li>`)}</ul>
${groups.map(
  (group) => html`<h2><a href="#${group.id}">${group.name}</a></h2>
<ul>${group.endpoints.map((each) => html`<li><a href="#${each.operationId}"><span class="method ${each.method.toLowerCase()}">${each.method}</span> ${each.summary}</a></li>`)}</ul>`,
)}
</div>
</nav>
<main>
${guides.map(
  (guide, at) => html`<section id="${toId(guide.title)}" data-search="${guide.title}">
${at === 0 ? html`<h1>${title} API</h1>` : html`<h2>${guide.title} <a class="anchor" href="#${toId(guide.title)}" aria-label="Link to ${guide.title}">#</a></h2>`}
${guide.content}
${
  at === 0 &&
  html`<p>The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.</p>
<p>Guides: ${guides.slice(1).map(({ title }, index) => html`${index > 0 && ' · '}<a href="#${toId(title)}">${title}</a>`)}</p>
<dl class="map">${groups.map((group) => html`<div><dt><a href="#${group.id}">${group.name}</a></dt><dd>${group.description}</dd></div>`)}</dl>`
}
</section>`,
)}
${groups.map(
  (group) => html`<section class="group" id="${group.id}" data-search="${group.name}">
<h2>${group.name} <a class="anchor" href="#${group.id}" aria-label="Link to ${group.name}">#</a></h2>
${markdown.toHtml(group.description)}
</section>
${group.endpoints.map(toOperation)}`,
)}
</main>
</body>
</html>
`.text
}
