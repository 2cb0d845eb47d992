import * as z from 'zod'
import { Isbn } from '../schema/isbn'
import { BookFormat, Id, int, nullableText } from '../schema/values'

const MAX_LANGUAGE = 35
const LANGUAGE = /^[A-Za-z]{2,8}(?:-[A-Za-z\d]{1,8})*$/
const languageError = 'must be a language tag such as ko or pt-BR, or null'
const Language = z
  .string({ error: languageError })
  .max(MAX_LANGUAGE, { error: `must be at most ${MAX_LANGUAGE} characters` })
  .regex(LANGUAGE, { error: languageError })

const MAX_SERIES = 500
/** Ancient works have years before the common era. */
const PublishedYear = int(-3000, 9999)
const MAX_SERIES_NUMBER = 100_000
const seriesNumberError = `must be a number between 0 and ${MAX_SERIES_NUMBER}, or null`
const SeriesNumber = z
  .number({ error: seriesNumberError })
  .min(0, { error: seriesNumberError })
  .max(MAX_SERIES_NUMBER, { error: seriesNumberError })

const MAX_SOURCE_IDS = 20
const SourceId = z
  .string({ error: 'must be a string' })
  .max(200, { error: 'must be at most 200 characters' })
  .regex(/^[a-z][a-z\d_-]*:[!-~]+$/, {
    error: 'must be a source in lower case, a colon and an identifier, such as goodreads:123',
  })
const SourceIds = z
  .array(SourceId, { error: 'must be an array of identifiers, or null' })
  .max(MAX_SOURCE_IDS, { error: `must have at most ${MAX_SOURCE_IDS} identifiers` })
  .refine((ids) => new Set(ids).size === ids.length, { error: 'must not repeat an identifier' })

export const EditionPatch = z
  .object({
    isbn: Isbn.nullish(),
    language: Language.nullish(),
    format: BookFormat.nullish(),
    publishedYear: PublishedYear.nullish(),
    series: nullableText(MAX_SERIES).optional(),
    seriesNumber: SeriesNumber.nullish(),
    sourceIds: SourceIds.nullish(),
  })
  .meta({ id: 'EditionPatch' })
export type EditionPatch = z.infer<typeof EditionPatch>

export const IsbnPath = z.object({ isbn: Isbn })

export const Edition = z
  .object({
    bookId: Id,
    isbn: z
      .string()
      .regex(/^97[89]\d{10}$/)
      .nullable(),
    language: z.string().max(MAX_LANGUAGE).nullable(),
    format: BookFormat.nullable(),
    publishedYear: PublishedYear.nullable(),
    series: z.string().max(MAX_SERIES).nullable(),
    seriesNumber: z.number().min(0).max(MAX_SERIES_NUMBER).nullable(),
    sourceIds: z.array(z.string().max(200)).max(MAX_SOURCE_IDS),
  })
  .meta({ id: 'Edition' })
export type Edition = z.infer<typeof Edition>
