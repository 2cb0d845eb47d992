import type { Format } from '../../imports/entry'
import { sampleMetadata } from './clippings/blocks'
import { readClippings } from './clippings/books'

// KOReader writes `highlight` in lower case, two digits for the day and the hour, and no location. Kindle does not.
const LINE = /^- Your (?:highlight|note) on page [^|]{1,40} \| Added on \w+, \w+ \d\d, \d{4} \d\d:\d\d:\d\d [AP]M$/

/** Whether KOReader wrote all of these lines. */
export const isKoreader = (lines: string[]) => lines.length > 0 && lines.every((line) => LINE.test(line))

/** KOReader's export “My Clippings”. */
export const koreaderClippings: Format = {
  name: 'koreader-clippings',
  matches: ({ json, text }) => json === undefined && isKoreader(sampleMetadata(text)),
  // KOReader writes `(Unknown)` where the book has no author.
  read: ({ text }) =>
    readClippings(text).map((entry) => (entry.author === 'Unknown' ? { ...entry, author: null } : entry)),
}
