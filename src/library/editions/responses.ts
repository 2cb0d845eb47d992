import * as z from 'zod/mini'
import { BookFormat } from '../../values/fields'
import { Id } from '../../values/responses'
import { MAX_LANGUAGE, MAX_SERIES, MAX_SERIES_NUMBER, MAX_SOURCE_IDS, PublishedYear } from './schema'

export const Edition = z
  .object({
    bookId: Id,
    isbn: z.nullable(z.string().check(z.regex(/^97[89]\d{10}$/))),
    language: z.nullable(z.string().check(z.maxLength(MAX_LANGUAGE))),
    format: z.nullable(BookFormat),
    publishedYear: z.nullable(PublishedYear),
    series: z.nullable(z.string().check(z.maxLength(MAX_SERIES))),
    seriesNumber: z.nullable(z.number().check(z.minimum(0), z.maximum(MAX_SERIES_NUMBER))),
    sourceIds: z.array(z.string().check(z.maxLength(200))).check(z.maxLength(MAX_SOURCE_IDS)),
  })
  .register(z.globalRegistry, { id: 'Edition' })
export type Edition = z.infer<typeof Edition>
