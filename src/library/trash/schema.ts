import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'

/** How long what was deleted can be restored. */
export const KEPT_DAYS = 30
/** The most characters of a memo that the list shows. */
export const MAX_EXCERPT = 200

const TRASH_ID = /^(?:book|memo)-[1-9]\d{0,15}$/
const trashIdError = 'must be the trashId of an item of GET /trash, such as book-17'
/** `book-` or `memo-` and the identifier. The output is the key of `trash`: the bookId, or the negative memoId. */
const TrashId = z.lazy(() =>
  z
    .pipe(
      z.string().check(z.regex(TRASH_ID, { error: trashIdError })),
      z.transform((text) => Number(text.slice(5)) * (text.startsWith('memo') ? -1 : 1)),
    )
    .check(z.refine(Number.isSafeInteger, { error: trashIdError })),
)
export const toTrashId = (key: number) => (key > 0 ? `book-${key}` : `memo-${-key}`)

export const TrashPath = z.lazy(() => z.object({ 'trash-id': TrashId }))

/** The time and the key of the last item. */
export const TrashQuery = z.lazy(() => cursorPaging(z.tuple([z.int(), z.int()])))
export type TrashQuery = z.infer<typeof TrashQuery>
