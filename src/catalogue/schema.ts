import * as z from 'zod'

export const CatalogueEntry = z
  .object({
    title: z.string(),
    author: z.string().nullable(),
    cover: z.string().nullable(),
    publisher: z.string().nullable(),
    itemPage: z.int().nullable(),
  })
  .meta({ id: 'CatalogueEntry' })
export type CatalogueEntry = z.infer<typeof CatalogueEntry>

export const CatalogueList = z.array(CatalogueEntry).max(10)

const LENGTH = 'must be 1 to 100 characters long'
export const SearchPath = z.object({
  'title-or-author': z
    .string()
    .transform((text) => text.trim())
    .refine((text) => text !== '' && [...text].length <= 100, { error: LENGTH })
    .refine((text) => text.isWellFormed() && !text.includes('\0'), {
      error: 'must not contain a NUL character or an unpaired surrogate',
    })
    .meta({ description: 'Part of a title or an author, 1 to 100 characters', minLength: 1, maxLength: 100 }),
})
