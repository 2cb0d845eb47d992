import * as z from 'zod/mini'
import { DOCUMENT_STATES } from '../../values/contract'
import { cursorPaging } from '../../values/cursor'
import { int, nameOf, nonEmptyText } from '../../values/fields'
import { named, namedLazy } from '../../values/named'

/** What a device names a document: mostly 32 hexadecimal digits. */
export const DocumentId = nonEmptyText(128)

export const DocumentPath = z.lazy(() => z.object({ 'document-id': DocumentId }))

export const DocumentState = named('DocumentState', nameOf(DOCUMENT_STATES))

/** The time and the identifier of the last document. */
export const DocumentQuery = z.lazy(() =>
  z.extend(cursorPaging(z.tuple([z.int(), z.string()])), { state: z.optional(DocumentState) }),
)
export type DocumentQuery = z.infer<typeof DocumentQuery>

export const DocumentBook = namedLazy('DocumentBook', () =>
  z.object({ bookId: z.nullable(int(1, Number.MAX_SAFE_INTEGER)) }),
)
export type DocumentBook = z.infer<typeof DocumentBook>
