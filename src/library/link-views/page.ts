// The page of a link. All that members wrote is escaped by `html`, or written anew by memo-html.ts.
import { html, raw } from 'hono/html'
import { SIZES } from '../stats/picture/draw'
import type { FeedEntry } from './entries'

type Html = ReturnType<typeof html>

/**
 * Draws the picture at twice its size, and saves it; marks one that is printed with dark colours. The policy allows the
 * script by its hash, so it must be constant.
 */
const SCRIPT = `
const [button, picture] = ['button', 'img'].map((name) => document.querySelector(name))
button.hidden = false
onbeforeprint = () => picture.classList.toggle('dark', picture.currentSrc.includes('theme=dark'))
button.onclick = () => {
  const [width, height] = [2 * picture.naturalWidth, 2 * picture.naturalHeight]
  const canvas = Object.assign(document.createElement('canvas'), { width, height })
  canvas.getContext('2d').drawImage(picture, 0, 0, width, height)
  canvas.toBlob((blob) => {
    const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: button.dataset.name })
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href))
  })
}
`

const hashOf = async (script: string) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(script))).toBase64()
let scriptHash: Promise<string> | undefined

const NONE = "'none'"
const POLICY = {
  'default-src': NONE,
  'style-src': "'self'",
  'img-src': "'self'",
  'base-uri': NONE,
  'form-action': NONE,
  'frame-ancestors': NONE,
}
/** The Content-Security-Policy of a year's page. */
export const toYearPolicy = async () => {
  scriptHash ??= hashOf(SCRIPT)
  return { ...POLICY, 'script-src': `'sha256-${await scriptHash}'` }
}

/** Schemes of covers that a page shows: `http:` only if it has such an address itself, as on localhost. */
const coverSchemes = (url: string) => (url.startsWith('http:') ? ['https:', 'http:'] : ['https:'])
/** The policy of a page of lists. */
export const toListPolicy = (url: string) => ({ ...POLICY, 'img-src': ["'self'", ...coverSchemes(url)].join(' ') })

export const ERROR_POLICY = POLICY
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
<header dir="auto">
<h1>${name}</h1>
${ownerName === null ? '' : html`<p class="note">Shared by <bdi>${ownerName}</bdi></p>\n`}</header>
${main}</main>
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

const toCover = ({ cover, title }: FeedEntry, schemes: string[]) =>
  cover && schemes.some((scheme) => cover.startsWith(scheme))
    ? html`<img src="${cover}" alt="" width="64" height="96" loading="lazy" referrerpolicy="no-referrer">`
    : html`<span class="cover" data-letter="${String.fromCodePoint(title.codePointAt(0) ?? 32)}"></span>`

const toHeading = ({ title, author, note }: FeedEntry) => html`<h2>${title}</h2>
${author === null ? '' : html`<p>${author}</p>\n`}<p class="note">${note}</p>
`

const toBook = (entry: FeedEntry, cover: Html | string) => html`<li${cover && raw(' class="book"')} dir="auto">
${cover}<div>
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
  const schemes = coverSchemes(url)
  const shown =
    kind === 'MEMOS'
      ? entries.map(toMemo)
      : entries.map((entry) => toBook(entry, kind === 'SHELF' ? toCover(entry, schemes) : ''))
  const calendar =
    kind === 'CALENDAR'
      ? html` · <a href="${url.replace(/^https?:/, 'webcal:')}.ics">Subscribe to the calendar</a>`
      : ''
  const newest = isFirst ? '' : html`<a href="${secret}">Newest</a>`
  const older = next ? html`<a rel="next" href="${secret}?cursor=${next}">Older</a>` : ''
  const pages = newest || older ? html`<nav aria-label="Pages">${newest} ${older}</nav>\n` : ''
  const none = next ? 'Nothing on this page.' : isFirst ? 'Nothing here yet.' : 'Nothing more.'
  const list = entries.length > 0 ? html`<ul>\n${shown}</ul>\n` : html`<p>${none}</p>\n`
  return toPage(
    page,
    html`<link rel="alternate" type="application/atom+xml" title="${name}" href="${secret}.atom">
<link rel="alternate" type="application/feed+json" title="${name}" href="${secret}.feed.json">
`,
    html`${list}${pages}<p class="note feeds"><a href="${secret}.atom">Atom feed</a> · <a href="${secret}.feed.json">JSON feed</a>${calendar}</p>
`,
  )
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')

type Finish = { title: string; author: string | null; finishedAt: string | null }
const toFinish = ({ title, author }: Finish) => html`<li>
<h3><bdi>${title}</bdi></h3>
${author === null ? '' : html`<p class="note"><bdi>${author}</bdi></p>\n`}</li>
`
/** Finishes by month, those of an unknown one last. */
const toMonths = (year: number, finishes: Finish[]) => {
  const months = Map.groupBy(finishes, ({ finishedAt }) => Number(finishedAt?.slice(5, 7)))
  return [...MONTHS, `Some time in ${year}`].map((name, index) => {
    const ofMonth = months.get((index + 1) % 13)
    return ofMonth ? html`<section>\n<h2>${name}</h2>\n<ul>\n${ofMonth.map(toFinish)}</ul>\n</section>\n` : ''
  })
}

type YearPage = Frame & { year: number; finishes: Finish[]; isCut: boolean; secret: string }

export const drawYearPage = ({ year, finishes, isCut, secret, ...frame }: YearPage) => {
  const { card, page } = SIZES
  const tall = raw(`width="${page.width}" height="${page.height}"`)
  return toPage(
    frame,
    '',
    html`<picture>
<source srcset="${secret}.svg?picture=page&theme=dark" media="screen and (max-width: 900px) and (prefers-color-scheme: dark)" ${tall}>
<source srcset="${secret}.svg?picture=page" media="screen and (max-width: 900px)" ${tall}>
<source srcset="${secret}.svg?theme=dark" media="screen and (prefers-color-scheme: dark)">
<img class="year" src="${secret}.svg" alt="${frame.description}" width="${card.width}" height="${card.height}">
</picture>
<p><button type="button" data-name="${year}.png" hidden>Save as PNG</button></p>
<div class="months">
${toMonths(year, finishes)}</div>
${isCut ? html`<p class="note">The list ends after ${finishes.length} books.</p>\n` : ''}<script>${raw(SCRIPT)}</script>
`,
  )
}
