import { MAX_CONTENT } from '../../../../../library/memos/schema'
import type { Code, Entry, EntryMemo } from '../../../../entry'

/** Text of a file as D1 can store it: without NUL and unpaired surrogates. */
export const cleanText = (text: string) => text.replaceAll('\0', '').toWellFormed().trim()

export const addLoss = (entry: Entry, code: Code, field: string) => {
  entry.losses.push({ code, field })
}

/** Joins a highlight and its notes to the content of one memo. */
export const joinNotes = (...texts: string[]) => texts.filter(Boolean).join('\n\n')

/** The first 65,535 code points, which are at most twice as many UTF-16 units. */
const cutContent = (content: string) =>
  content.length > MAX_CONTENT ? [...content.slice(0, 2 * MAX_CONTENT)].slice(0, MAX_CONTENT).join('') : content

/** Adds a memo, cut and with a loss if its content is too long. `field` is its position in the file. */
export const addMemo = (entry: Entry, memo: EntryMemo, field: string) => {
  const content = cutContent(memo.content)
  if (content.length < memo.content.length) addLoss(entry, 'review-truncated', field)
  entry.memos.push({ ...memo, content })
}
