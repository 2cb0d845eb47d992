import type { Format } from '../../rows/table'
import { sampleMetadata } from './clippings/blocks'
import { readClippings } from './clippings/clipped-books'

// Unlike Kindle, KOReader writes `highlight` in lower case, the day and the hour with two digits, and no location.
const KOREADER_LINE =
  /^- Your (?:highlight|note) on page [^|]{1,40} \| Added on \w+, \w+ \d\d, \d{4} \d\d:\d\d:\d\d [AP]M$/

/** The device that wrote a file of clippings. Undefined for other files. */
const writerOf = ({ json, text }: Parameters<Format['matches']>[0]) => {
  const lines = json === undefined ? sampleMetadata(text) : []
  if (lines.length === 0) return undefined
  return lines.every((line) => KOREADER_LINE.test(line)) ? 'koreader' : 'kindle'
}

/** `My Clippings.txt` of Kindle devices, in any language. */
export const kindle: Format = {
  name: 'kindle',
  matches: (source) => writerOf(source) === 'kindle',
  read: ({ text }, options) => readClippings(text, options),
}

/** KOReader's export “My Clippings”. */
export const koreaderClippings: Format = {
  name: 'koreader-clippings',
  matches: (source) => writerOf(source) === 'koreader',
  // KOReader writes `(Unknown)` where the book has no author.
  read: ({ text }, options) =>
    readClippings(text, options).map((entry) => (entry.author === 'Unknown' ? { ...entry, author: null } : entry)),
}
