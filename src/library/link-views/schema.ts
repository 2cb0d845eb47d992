import * as z from 'zod/mini'
import { cursorError, cursorOf, MAX_CURSOR, MAX_LIST_SIZE } from '../../values/cursor'
import { intParameter } from '../../values/fields'
import { Position } from '../books/schema'
import { PictureSize, Theme } from '../stats/schema'

/** Only for the document: malformed links get 404, like unknown ones. */
export const LinkViewPath = z.lazy(() =>
  z.object({ link: z.string().check(z.regex(/^[\dA-Za-z]{39}(?:\.[a-z]+){0,2}$/)) }),
)

/** Encryption adds an initialization vector, a tag and another base64 encoding. */
export const MAX_SEALED = 2 * MAX_CURSOR

/** The last memo of a page. */
const LastMemo = z.int()
/** The last reading of a page: its date and identifier. */
const LastReading = z.tuple([z.string(), z.int()])
export type LastReading = z.infer<typeof LastReading>

/** What `openCursor` returns. */
export const OpenedCursor = z.lazy(() => cursorOf(z.union([Position, LastMemo, LastReading])))
export type OpenedCursor = z.infer<typeof OpenedCursor>

/** One schema for all forms: each ignores what it does not use. */
export const LinkQuery = z.lazy(() =>
  z.object({
    cursor: z.optional(
      z.string().check(z.maxLength(MAX_SEALED, { error: cursorError }), z.regex(/^[\w-]+$/, { error: cursorError })),
    ),
    size: z._default(intParameter(1, MAX_LIST_SIZE), 20),
    theme: z._default(Theme, 'light'),
    picture: z._default(PictureSize, 'card'),
  }),
)
export type LinkQuery = z.infer<typeof LinkQuery>
