// The feeds of a link: JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/) and Atom (RFC 4287).
import { toInstant } from '../../values/fields'
import { type FeedEntry, latestOf, toId } from './entries'
import { escapeMarkup } from './memo-html'
import type { About } from './store'

/** All texts are plain (`toPlain`). `url`: of the link, without a suffix. */
export type Feed = { about: About; entries: FeedEntry[]; url: string; host: string }

/** One line, without bidirectional control characters. */
const toLine = (text: string) =>
  text
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
/** The title includes the book's author: entries have no author of their own. */
const toTitle = ({ title, author }: FeedEntry) => toLine(author === null ? title : `${title} – ${author}`)
const toContent = ({ note, memo }: FeedEntry) => (memo ? `${memo.text}\n\n${note}` : note)
const toHtml = ({ note, memo }: FeedEntry) => `${memo?.html ?? ''}<p>${escapeMarkup(note)}</p>`

export const toJsonFeed = ({ about, entries, url }: Feed) => ({
  version: 'https://jsonfeed.org/version/1.1',
  title: toLine(about.name),
  home_page_url: url,
  feed_url: `${url}.feed.json`,
  ...(about.ownerName && { authors: [{ name: toLine(about.ownerName) }] }),
  items: entries.map((entry) => ({
    id: entry.id,
    url,
    title: toTitle(entry),
    content_text: toContent(entry),
    content_html: toHtml(entry),
    ...(entry.cover && { image: entry.cover }),
    date_published: toInstant(entry.published),
    date_modified: toInstant(entry.updated),
  })),
})

const toAtomEntry = (url: string) => (entry: FeedEntry) =>
  `<entry>
<id>${escapeMarkup(entry.id)}</id>
<title>${escapeMarkup(toTitle(entry))}</title>
<published>${toInstant(entry.published)}</published>
<updated>${toInstant(entry.updated)}</updated>
<link rel="alternate" type="text/html" href="${escapeMarkup(url)}"/>
<content type="html">${escapeMarkup(toHtml(entry))}</content>
</entry>
`

export const toAtom = ({ about, entries, url, host }: Feed) => `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escapeMarkup(toId(host, about))}</id>
<title>${escapeMarkup(toLine(about.name))}</title>
<author><name>${escapeMarkup(toLine(about.ownerName ?? 'Reading Library'))}</name></author>
<updated>${toInstant(latestOf(about, entries))}</updated>
<link rel="self" type="application/atom+xml" href="${escapeMarkup(url)}.atom"/>
<link rel="alternate" type="text/html" href="${escapeMarkup(url)}"/>
${entries.map(toAtomEntry(url)).join('')}</feed>
`

// The calendar of a link: iCalendar (RFC 5545).

/** Octets of a line, without its end. */
const MAX_LINE = 75

/** The length of a code point in UTF-8. With an encoder, a calendar of 500 events takes ten times as long. */
const octetsOf = (letter: string) => {
  const code = letter.codePointAt(0) ?? 0
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}

/** Folds a line by octets, not within a character. */
const foldLine = (line: string) => {
  let folded = ''
  let room = MAX_LINE
  for (const letter of line) {
    const octets = octetsOf(letter)
    if (octets > room) {
      folded += '\r\n '
      room = MAX_LINE - 1
    }
    folded += letter
    room -= octets
  }
  return folded
}

/** A value of the type TEXT. */
const escapeText = (text: string) =>
  text
    // Some parsers take all of these for the end of a line.
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')

const toDate = (date: string) => date.replaceAll('-', '')
const toTime = (time: number) => `${new Date(time).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`

/** RFC 5545 requires DTSTAMP. It is the day of the event, so that the ETag does not change. */
const toEvent = ({ id, title, author, note, date, updated }: Feed['entries'][number]) => [
  'BEGIN:VEVENT',
  `UID:${escapeText(id)}`,
  `DTSTAMP:${toTime(updated)}`,
  `DTSTART;VALUE=DATE:${toDate(date)}`,
  `SUMMARY:${escapeText(title)}`,
  `DESCRIPTION:${escapeText(author === null ? note : `${author}\n${note}`)}`,
  'TRANSP:TRANSPARENT',
  'END:VEVENT',
]

/** All-day events of finished readings. */
export const toCalendar = ({ about, entries, url }: Feed) =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Reading Library//Links//EN',
    'CALSCALE:GREGORIAN',
    // RFC 7986, and its predecessor for older clients.
    `NAME:${escapeText(about.name)}`,
    `X-WR-CALNAME:${escapeText(about.name)}`,
    ...(about.ownerName ? [`DESCRIPTION:${escapeText(`Shared by ${about.ownerName}`)}`] : []),
    `URL:${url}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT6H',
    ...entries.flatMap(toEvent),
    'END:VCALENDAR',
  ]
    .map((line) => `${foldLine(line)}\r\n`)
    .join('')
