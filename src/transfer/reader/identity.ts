import type { Entry } from '../entries/entry'
import { toAuthorKeys, toFullTitle, toTitle } from '../entries/names'
import { type About, isSameBook, sharesTitle, toAbout } from '../entries/same-book'
import { addRow } from './repeated-rows'

/** What entries of the same book share: the first identifier, else the ISBN, else the title and first author. */
const identityOf = (entry: Entry) => {
  const { sourceIds, isbn, title, author } = entry
  if (sourceIds[0]) return sourceIds[0]
  if (isbn) return `isbn:${isbn}`
  return title ? `title:${toTitle(toFullTitle(entry)).key}|${toAuthorKeys(author)[0]}` : undefined
}

/** A key that several memos of a book share identifies none of them. */
export const dropSharedKeys = (entries: Entry[]) => {
  for (const { memos } of entries) {
    for (const same of Map.groupBy(memos, ({ key }) => key).values()) {
      if (same.length > 1) for (const memo of same) memo.key = undefined
    }
  }
}

/** The most entries kept for one identity: only box sets and wrong identifiers make several books share one. */
const MAX_COMPARED = 100

/** Marks the entries that repeat an earlier one of the file, and adds to that one what it lacks. */
export const markDuplicates = (entries: Entry[]) => {
  const firsts = new Map<string, { first: Entry; texts: Set<string>; about: About }[]>()
  for (const entry of entries) {
    const identity = entry.failure ? undefined : identityOf(entry)
    if (identity === undefined) continue
    const about = toAbout(entry)
    const others = firsts.get(identity) ?? []
    const known = others.find((other) => isSameBook(about, other.about))
    if (known) {
      entry.failure = addRow(known.first, entry, known.texts) ? 'merged-in-file' : 'duplicate-in-file'
      if (!sharesTitle(about, known.about)) entry.losses.push({ code: 'duplicate-in-file', field: 'title' })
      continue
    }
    const texts = new Set(entry.memos.map(({ content }) => content))
    if (others.length < MAX_COMPARED) others.push({ first: entry, texts, about })
    firsts.set(identity, others)
  }
  return entries
}
