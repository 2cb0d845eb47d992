import * as z from 'zod/mini'
import { MAX_TAG } from '../../values/contract'
import { orRequired, trimmedText } from '../../values/fields'
import { namedLazy } from '../../values/named'
import { pagingUpTo } from '../../values/paging'

/** The most tags of a book, and of a member. */
export const MAX_BOOK_TAGS = 30
export const MAX_TAGS = 2000

export const TagName = z.lazy(() => trimmedText(MAX_TAG))

export const tagNames = () =>
  z
    .array(TagName, { error: orRequired('must be an array of strings') })
    .check(z.maxLength(MAX_BOOK_TAGS, { error: `must have at most ${MAX_BOOK_TAGS} tags` }))

/** The tags of a book, in requests and responses. */
export const BookTags = namedLazy('BookTags', () => z.object({ tags: tagNames() }))
export type BookTags = z.infer<typeof BookTags>

export const BookTagsPatch = namedLazy('BookTagsPatch', () =>
  z.object({ add: z.optional(tagNames()), remove: z.optional(tagNames()) }),
)
export type BookTagsPatch = z.infer<typeof BookTagsPatch>

export const TagRename = namedLazy('TagRename', () => z.object({ from: TagName, to: TagName }))
export type TagRename = z.infer<typeof TagRename>

export const TagQuery = z.lazy(() => z.object({ tag: TagName }))
export const TaggedQuery = z.lazy(() => z.extend(pagingUpTo(), { tag: TagName }))
export type TaggedQuery = z.infer<typeof TaggedQuery>
