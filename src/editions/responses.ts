import * as z from 'zod'
import { Id } from '../schema/responses'
import { BookFormat } from '../schema/values'
import { MAX_LANGUAGE, MAX_SERIES, MAX_SERIES_NUMBER, MAX_SOURCE_IDS, PublishedYear } from './schema'

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
