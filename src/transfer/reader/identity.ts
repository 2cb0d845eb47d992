import type { Entry, EntryMemo } from '../entries/entry'
import { toAuthorKeys, toFullTitle, toTitle } from '../entries/names'
import { type About, isSameBook, toAbout } from '../entries/same-book'

/** What entries of the same book share: the first identifier, else the ISBN, else the title and first author. */
const identityOf = (entry: Entry) => {
  const { sourceIds, isbn, title, author } = entry
  if (sourceIds[0]) return sourceIds[0]
  if (isbn) return `isbn:${isbn}`
  return title ? `title:${toTitle(toFullTitle(entry)).key}|${toAuthorKeys(author)[0]}` : undefined
}

/** The entries that are compared by one identity: only the volumes of a box set, and rows with false identifiers, are several. */
const MAX_COMPARED = 100

/** Marks the entries that an earlier one of the file repeats, and adds their highlights and notes to that one. */
export const markDuplicates = (entries: Entry[]) => {
  const firsts = new Map<string, { memos: EntryMemo[]; known: Set<string>; about: About }[]>()
  for (const entry of entries) {
    const identity = entry.failure ? undefined : identityOf(entry)
    if (identity === undefined) continue
    const about = toAbout(entry)
    const others = firsts.get(identity) ?? []
    const first = others.find((other) => isSameBook(about, other.about))
    if (!first) {
      const known = new Set(entry.memos.map(({ content }) => content))
      if (others.length < MAX_COMPARED) others.push({ memos: entry.memos, known, about })
      firsts.set(identity, others)
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
