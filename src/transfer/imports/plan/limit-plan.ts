import { MAX_TAGS } from '../../../library/tags/schema'
import { fold } from '../../../values/fold'
import type { Quotas } from '../../../values/quotas'
import { type Planned, refuse } from './plan'

/** What counts towards the quotas of a member. */
export type Usage = { books: number; textBytes: number }

/** Drops the tags that the member has no room for. */
export const limitTags = (plan: Planned[], known: Set<string>) => {
  for (const planned of plan) {
    const kept = planned.tags.filter((tag) => known.has(fold(tag)) || known.size < MAX_TAGS)
    for (const tag of kept) known.add(fold(tag))
    if (kept.length < planned.tags.length) planned.losses = [...planned.losses, { code: 'too-many', field: 'tags' }]
    planned.tags = kept
  }
}

/** Fails the rows that the quotas have no room for. */
export const limitUsage = (plan: Planned[], usage: Usage, quotas: Quotas) => {
  let { books, textBytes } = usage
  return plan.map((planned): Planned => {
    const fits =
      (!planned.book || books < quotas.MAX_BOOKS) &&
      (planned.bytes === 0 || textBytes + planned.bytes <= quotas.MAX_MEMBER_TEXT_BYTES)
    if (!fits) return refuse(planned.row, planned.entry, 'failed', 'quota', planned.bookId)
    if (planned.book) books += 1
    textBytes += planned.bytes
    return planned
  })
}

/** The usage with what planned rows add. */
export const withAdded = ({ books, textBytes }: Usage, plan: Planned[]): Usage => ({
  books: books + plan.filter(({ book }) => book).length,
  textBytes: plan.reduce((sum, { bytes }) => sum + bytes, textBytes),
})
