import type { Format } from '../../../entry'
import { sampleMetadata } from './clippings/blocks'
import { readClippings } from './clippings/clipped-books'
import { isKoreader } from './koreader-clippings'

/** `My Clippings.txt` of Kindle devices, in any language. */
export const kindle: Format = {
  name: 'kindle',
  matches: ({ json, text }) => {
    if (json !== undefined) return false
    const lines = sampleMetadata(text)
    return lines.length > 0 && !isKoreader(lines)
  },
  read: ({ text }, options) => readClippings(text, options),
}
