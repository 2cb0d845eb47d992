import type { Entry, EntryMemo } from '../entries/entry'
import { toAuthorKeys, toFullTitle, toTitle } from '../entries/names'

/** What entries of the same book share: the first identifier, else the ISBN, else the title and first author. */
const identityOf = (entry: Entry) => {
  const { sourceIds, isbn, title, author } = entry
  if (sourceIds[0]) return sourceIds[0]
  if (isbn) return `isbn:${isbn}`
  return title ? `title:${toTitle(toFullTitle(entry)).key}|${toAuthorKeys(author)[0]}` : undefined
}

/** Marks the entries that an earlier one of the file repeats, and adds their highlights and notes to that one. */
export const markDuplicates = (entries: Entry[]) => {
  const firsts = new Map<string, { memos: EntryMemo[]; known: Set<string> }>()
  for (const entry of entries) {
    const identity = entry.failure ? undefined : identityOf(entry)
    if (identity === undefined) continue
    const first = firsts.get(identity)
    if (!first) {
      firsts.set(identity, { memos: entry.memos, known: new Set(entry.memos.map(({ content }) => content)) })
      continue
    }
    entry.failure = 'duplicate-in-file'
    // A device can have a book twice, with the names of its author in another order.
    for (const memo of entry.memos) {
      if (memo.source || first.known.has(memo.content)) continue
      first.known.add(memo.content)
      first.memos.push(memo)
    }
  }
  return entries
}
