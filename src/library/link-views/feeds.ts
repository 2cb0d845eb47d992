// The feeds of a link: JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/) and Atom (RFC 4287).
import { toInstant } from '../../values/fields'
import { type Entry, latestOf, toId } from './entries'
import type { About } from './store'

/** `url`: of the link, without a suffix. */
export type Feed = { about: About; entries: Entry[]; url: string; host: string }

/** One line, without bidirectional control characters. */
const toLine = (text: string) =>
  text
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
/** The title includes the book's author: entries have no author of their own. */
const toTitle = ({ title, author }: Entry) => toLine(author === null ? title : `${title} – ${author}`)
const toContent = ({ note, text }: Entry) => (text === null ? note : `${text}\n\n${note}`)

export const toJsonFeed = ({ about, entries, url }: Feed) => ({
  version: 'https://jsonfeed.org/version/1.1',
  title: toLine(about.name),
  home_page_url: url,
  feed_url: `${url}.feed.json`,
  items: entries.map((entry) => ({
    id: entry.id,
    url,
    title: toTitle(entry),
    content_text: toContent(entry),
    ...(entry.cover && { image: entry.cover }),
    date_published: toInstant(entry.published),
    date_modified: toInstant(entry.updated),
  })),
})

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' }
/** Text in XML: without the characters that XML 1.0 does not allow. */
const escapeMarkup = (text: string) =>
  text
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"\r]/g, (letter) => ENTITIES[letter] ?? letter)

const toAtomEntry = (url: string) => (entry: Entry) =>
  `<entry>
<id>${escapeMarkup(entry.id)}</id>
<title>${escapeMarkup(toTitle(entry))}</title>
<published>${toInstant(entry.published)}</published>
<updated>${toInstant(entry.updated)}</updated>
<link rel="alternate" type="text/html" href="${escapeMarkup(url)}"/>
<content>${escapeMarkup(toContent(entry))}</content>
</entry>
`

export const toAtom = ({ about, entries, url, host }: Feed) => `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escapeMarkup(toId(host, about))}</id>
<title>${escapeMarkup(toLine(about.name))}</title>
<author><name>Reading Library</name></author>
<updated>${toInstant(latestOf(about, entries))}</updated>
<link rel="self" type="application/atom+xml" href="${escapeMarkup(url)}.atom"/>
<link rel="alternate" type="text/html" href="${escapeMarkup(url)}"/>
${entries.map(toAtomEntry(url)).join('')}</feed>
`
