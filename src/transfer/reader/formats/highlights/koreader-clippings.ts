import type { Format } from '../../../entry'
import { sampleMetadata } from './clippings/blocks'
import { readClippings } from './clippings/clipped-books'

// Unlike Kindle, KOReader writes `highlight` in lower case, the day and the hour with two digits, and no location.
const LINE = /^- Your (?:highlight|note) on page [^|]{1,40} \| Added on \w+, \w+ \d\d, \d{4} \d\d:\d\d:\d\d [AP]M$/

/** Whether KOReader wrote all of these lines. */
export const isKoreader = (lines: string[]) => lines.length > 0 && lines.every((line) => LINE.test(line))

/** KOReader's export “My Clippings”. */
export const koreaderClippings: Format = {
  name: 'koreader-clippings',
  matches: ({ json, text }) => json === undefined && isKoreader(sampleMetadata(text)),
  // KOReader writes `(Unknown)` where the book has no author.
  read: ({ text }, options) =>
    readClippings(text, options).map((entry) => (entry.author === 'Unknown' ? { ...entry, author: null } : entry)),
}
