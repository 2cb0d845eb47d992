// The calendar of a link: iCalendar (RFC 5545).
import type { Feed } from './feeds'

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
    .toWellFormed()
    // Some parsers take all of these for the end of a line.
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 5545 allows no others
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '')
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
    `URL:${url}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT6H',
    ...entries.flatMap(toEvent),
    'END:VCALENDAR',
  ]
    .map((line) => `${foldLine(line)}\r\n`)
    .join('')
