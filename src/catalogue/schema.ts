import * as z from 'zod'
import { MAX_INT } from '../contract'
import { SearchTerm } from '../schema/values'

export const CatalogueEntry = z
  .object({
    title: z.string(),
    author: z.string().nullable(),
    cover: z.string().nullable(),
    publisher: z.string().nullable(),
    itemPage: z.int().min(1).max(MAX_INT).nullable(),
  })
  .meta({ id: 'CatalogueEntry' })
export type CatalogueEntry = z.infer<typeof CatalogueEntry>

export const CatalogueList = z.array(CatalogueEntry).max(10)

export const SearchPath = z.object({ 'title-or-author': SearchTerm })
