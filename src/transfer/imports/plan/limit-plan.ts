import { MAX_TAGS } from '../../../library/tags/schema'
import { fold } from '../../../values/fold'
import type { Quotas } from '../../../values/quotas'
import { type Planned, reportOnly } from './plan'

/** What counts towards the quotas of a member. */
export type Usage = { books: number; textBytes: number }

/** Drops the tags that the member has no room for, and adds the others to those that are known. */
export const limitTags = (plan: Planned[], known: Set<string>) =>
  plan.map((planned): Planned => {
    const tags = planned.tags.filter((tag) => known.has(fold(tag)) || known.size < MAX_TAGS)
    for (const tag of tags) known.add(fold(tag))
    if (tags.length === planned.tags.length) return planned
    return { ...planned, tags, losses: [...planned.losses, { code: 'too-many', field: 'tags' }] }
  })

/** The usage with what planned rows add. */
export const withAdded = ({ books, textBytes }: Usage, plan: Planned[]): Usage => ({
  books: books + plan.filter(({ book }) => book).length,
  textBytes: plan.reduce((sum, { bytes }) => sum + bytes, textBytes),
})

/** Fails the rows that the quotas have no room for. */
export const limitUsage = (plan: Planned[], usage: Usage, quotas: Quotas) => {
  let before = usage
  return plan.map((planned): Planned => {
    const { books, textBytes } = withAdded(before, [planned])
    const fits =
      (!planned.book || books <= quotas.MAX_BOOKS) && (planned.bytes === 0 || textBytes <= quotas.MAX_MEMBER_TEXT_BYTES)
    if (!fits) return reportOnly(planned.row, planned.entry, 'failed', 'quota', planned.bookId)
    before = { books, textBytes }
    return planned
  })
}
