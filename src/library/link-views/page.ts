// The page of a link. All that members wrote is escaped by `html`, or written anew by `toShownMemo`.
import { html, raw } from 'hono/html'
import type { FeedEntry } from './entries'

type Html = ReturnType<typeof html>

/** Draws the picture at twice its size, and saves it. The policy allows it by its hash, so it must be constant. */
const SAVE = `
const button = document.querySelector('button')
button.hidden = false
button.onclick = () => {
  const picture = document.querySelector('img')
  const canvas = Object.assign(document.createElement('canvas'), { width: 2400, height: 1260 })
  canvas.getContext('2d').drawImage(picture, 0, 0, canvas.width, canvas.height)
  canvas.toBlob((blob) => {
    const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: button.dataset.name })
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href))
  })
}
`

const hashOf = async (script: string) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(script))).toBase64()
let saveHash: Promise<string> | undefined

const NONE = "'none'"
/** The Content-Security-Policy of a page of lists. */
export const LIST_POLICY = {
  'default-src': NONE,
  'style-src': "'self'",
  'img-src': "'self' https:",
  'base-uri': NONE,
  'form-action': NONE,
  'frame-ancestors': NONE,
}
/** The policy of a year's page. */
export const toYearPolicy = async () => {
  saveHash ??= hashOf(SAVE)
  return { ...LIST_POLICY, 'img-src': "'self'", 'script-src': `'sha256-${await saveHash}'` }
}

/** What a browser shows instead of an error. Nothing in it depends on the link. */
export const drawError = () =>
  toDocument(
    'Link not found',
    '',
    html`<main>
<h1>Link not found</h1>
<p>The address may be incomplete, or the link may have ended.</p>
</main>
`,
  )

/** `contact`: SECURITY_CONTACT. */
type Frame = { name: string; ownerName: string | null; url: string; description: string; contact: string | undefined }

// Addresses are relative, so that the page works below any path.
const toDocument = (title: string, head: Html | string, body: Html) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="../docs/icon.svg">
<link rel="stylesheet" href="../docs/theme.css">
<link rel="stylesheet" href="../docs/link.css">
${head}</head>
<body>
${body}</body>
</html>
`

const toPage = ({ name, ownerName, url, description, contact }: Frame, head: Html | string, main: Html) =>
  toDocument(
    name,
    html`<meta name="description" content="${description}">
<meta property="og:title" content="${name}">
<meta property="og:description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Reading Library">
<meta property="og:url" content="${url}">
${head}`,
    html`<main>
<h1 dir="auto">${name}</h1>
${ownerName === null ? '' : html`<p class="note">Shared by <bdi>${ownerName}</bdi></p>\n`}${main}</main>
<footer>
<p>A member of this service shares this page with everyone who has its address.</p>
${
  contact
    ? html`<p>If this page is illegal or infringes your rights, <a href="${contact}" rel="nofollow">report it</a> and include its address.</p>
`
    : ''
}</footer>
`,
  )

/** The policy allows only https images. */
const toCover = ({ cover }: FeedEntry) =>
  cover?.startsWith('https:')
    ? html`<img src="${cover}" alt="" width="64" height="96" loading="lazy" referrerpolicy="no-referrer">`
    : html`<span class="cover"></span>`

const toHeading = ({ title, author, note }: FeedEntry) => html`<h2>${title}</h2>
${author === null ? '' : html`<p>${author}</p>\n`}<p class="note">${note}</p>
`

const toBook = (entry: FeedEntry, hasCovers: boolean) => html`<li${hasCovers ? raw(' class="book"') : ''} dir="auto">
${hasCovers ? toCover(entry) : ''}<div>
${toHeading(entry)}</div>
</li>
`

const toMemo = (entry: FeedEntry) => html`<li dir="auto">
${toHeading(entry)}<div class="text" dir="auto">${raw(entry.memo?.html ?? '')}</div>
</li>
`

type ListPage = Frame & {
  kind: 'SHELF' | 'MEMOS' | 'CALENDAR'
  entries: FeedEntry[]
  next: string | null
  isFirst: boolean
  /** The last part of the address. */
  secret: string
}

export const drawList = (page: ListPage) => {
  const { kind, entries, next, isFirst, secret, name, url } = page
  const shown = kind === 'MEMOS' ? entries.map(toMemo) : entries.map((entry) => toBook(entry, kind === 'SHELF'))
  const calendar =
    kind === 'CALENDAR'
      ? html` · <a href="${url.replace(/^https?:/, 'webcal:')}.ics">Subscribe to the calendar</a>`
      : ''
  const newest = isFirst ? '' : html`<a href="${secret}">Newest</a>`
  const older = next ? html`<a rel="next" href="${secret}?cursor=${next}">Older</a>` : ''
  const pages = newest || older ? html`<nav aria-label="Pages">${newest} ${older}</nav>\n` : ''
  const none = next ? 'Nothing on this page.' : isFirst ? 'Nothing here yet.' : 'Nothing more.'
  const list = entries.length > 0 ? html`<ol>\n${shown}</ol>\n` : html`<p>${none}</p>\n`
  return toPage(
    page,
    html`<link rel="alternate" type="application/atom+xml" title="${name}" href="${secret}.atom">
<link rel="alternate" type="application/feed+json" title="${name}" href="${secret}.feed.json">
`,
    html`${list}${pages}<p class="note"><a href="${secret}.atom">Atom feed</a> · <a href="${secret}.feed.json">JSON feed</a>${calendar}</p>
`,
  )
}

type YearPage = Frame & { year: number; secret: string }

export const drawYearPage = ({ year, secret, ...frame }: YearPage) =>
  toPage(
    frame,
    '',
    html`<a href="${secret}.svg"><picture>
<source srcset="${secret}.svg?theme=dark" media="(prefers-color-scheme: dark)">
<img class="year" src="${secret}.svg" alt="${frame.description}" width="1200" height="630">
</picture></a>
<p><button type="button" data-name="${year}.png" hidden>Save as PNG</button></p>
<script>${raw(SAVE)}</script>
`,
  )
