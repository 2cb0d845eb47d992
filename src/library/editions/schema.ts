import * as z from 'zod/mini'
import { MAX_NAME } from '../../values/contract'
import { BookFormat, filledText, int, NullableUrl, nullableText, numberBetween } from '../../values/fields'
import { namedLazy } from '../../values/named'
import { Isbn } from '../../values/text/isbn'

/** The most books that `listByIsbn` returns. */
export const MAX_SAME_ISBN = 100

export const MAX_LANGUAGE = 35
const LANGUAGE = /^[A-Za-z]{2,8}(?:-[A-Za-z\d]{1,8})*$/
const languageError = 'must be a language tag such as ko or pt-BR, or null'
export const Language = z.lazy(() =>
  z
    .string({ error: languageError })
    .check(
      z.maxLength(MAX_LANGUAGE, { error: `must be at most ${MAX_LANGUAGE} characters` }),
      z.regex(LANGUAGE, { error: languageError }),
    ),
)

/** Ancient works have years before the common era. */
export const MIN_YEAR = -3000
export const MAX_YEAR = 9999
export const PublishedYear = z.lazy(() => int(MIN_YEAR, MAX_YEAR))
export const MAX_SERIES_NUMBER = 100_000
const seriesNumberError = `must be a number between 0 and ${MAX_SERIES_NUMBER}, or null`
export const SeriesNumber = z.lazy(() => numberBetween(0, MAX_SERIES_NUMBER, seriesNumberError))

/** A thousand hours. */
export const MAX_SECONDS = 3_600_000
export const EditionSeconds = z.lazy(() => int(1, MAX_SECONDS))

export const MAX_SOURCE_IDS = 20
export const MAX_SOURCE_ID = 200
export const SOURCE_ID = /^[a-z][a-z\d_-]*:[!-~]+$/
export const SourceId = z.lazy(() =>
  z.string({ error: 'must be a string' }).check(
    z.maxLength(MAX_SOURCE_ID, { error: `must be at most ${MAX_SOURCE_ID} characters` }),
    z.regex(SOURCE_ID, {
      error: 'must be a source in lower case, a colon and an identifier, such as goodreads:123',
    }),
  ),
)
const SourceIds = z.lazy(() =>
  z.array(SourceId, { error: 'must be an array of identifiers, or null' }).check(
    z.maxLength(MAX_SOURCE_IDS, { error: `must have at most ${MAX_SOURCE_IDS} identifiers` }),
    z.refine((ids) => new Set(ids).size === ids.length, { error: 'must not repeat an identifier' }),
  ),
)

export const EditionPatch = namedLazy('EditionPatch', () =>
  z.object({
    title: z.optional(filledText(MAX_NAME)),
    subtitle: z.optional(nullableText(MAX_NAME)),
    cover: z.optional(NullableUrl),
    isbn: z.nullish(Isbn),
    language: z.nullish(Language),
    format: z.nullish(BookFormat),
    publishedYear: z.nullish(PublishedYear),
    series: z.optional(nullableText(MAX_NAME)),
    seriesNumber: z.nullish(SeriesNumber),
    seconds: z.nullish(EditionSeconds),
    sourceIds: z.nullish(SourceIds),
  }),
)
export type EditionPatch = z.infer<typeof EditionPatch>

export const IsbnPath = z.lazy(() => z.object({ isbn: Isbn }))
