import { utf8Bytes } from '../../../values/quotas'
import type { EntryMemo, Loss } from '../../entries/entry'
import type { Existing, SourcedMemo } from './existing'

/** A text for a memo that an earlier import wrote from the same column. */
export type ReplacedText = EntryMemo & { replaced: SourcedMemo }

export const memoBytes = (memos: EntryMemo[]) => utf8Bytes(...memos.map(({ content }) => content))
export const textGrowth = (texts: ReplacedText[]) =>
  texts.reduce((sum, { content, replaced }) => sum + Math.max(0, utf8Bytes(content) - replaced.bytes), 0)

/**
 * The memos to add to a book, and the texts to replace. A text that a column had earlier is only replaced if the import
 * overwrites, and the member has not edited it.
 */
export const planMemos = ({ missing, sourced }: Existing, overwrites: boolean) => {
  const memos: EntryMemo[] = []
  const texts: ReplacedText[] = []
  const losses: Loss[] = []
  for (const memo of missing.memos) {
    const earlier = sourced.filter(({ source }) => source === memo.source)
    const replaced = overwrites ? earlier.findLast(({ isEdited }) => !isEdited) : undefined
    if (!memo.source || earlier.length === 0) memos.push(memo)
    else if (replaced) texts.push({ ...memo, replaced })
    else losses.push({ code: 'text-kept', field: memo.source.slice(memo.source.indexOf(' ') + 1) })
  }
  return { memos, texts, losses }
}
