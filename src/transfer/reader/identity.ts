import { fold } from '../../values/fold'
import type { Entry } from '../entry'
import { cutText } from './rows/values'

const SERIES = /\s\([^()#]*#[^()]*\)$/
/** A title for comparison: folded, without the series in brackets at its end, punctuation and repeated blanks. */
const normalizeTitle = (title: string) =>
  fold(cutText(title.trim(), 500).replace(SERIES, ''))
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim()

const normalizeAuthor = (author: string) => normalizeTitle(author.split(',')[0] ?? '')

/** What makes an entry the same book as another: its first identifier, else its ISBN, else its title and first author. */
export const identityOf = ({
  sourceIds: [sourceId],
  isbn,
  title,
  author,
}: Pick<Entry, 'sourceIds' | 'isbn' | 'title' | 'author'>) => {
  if (sourceId) return sourceId
  if (isbn) return `isbn:${isbn}`
  // A title of punctuation only is compared as it is.
  const name = title && (normalizeTitle(title) || title)
  return name ? `title:${name}|${normalizeAuthor(author ?? '')}` : undefined
}

/** Marks the entries that an earlier one of the file repeats. */
export const markDuplicates = (entries: Entry[]) => {
  const seen = new Set<string>()
  for (const entry of entries) {
    const identity = entry.failure ? undefined : identityOf(entry)
    if (identity === undefined) continue
    if (seen.has(identity)) entry.failure = 'duplicate-in-file'
    seen.add(identity)
  }
  return entries
}
