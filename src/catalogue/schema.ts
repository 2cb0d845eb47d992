import * as z from 'zod/mini'
import { MAX_COVER, MAX_INT, MAX_NAME } from '../values/contract'
import { SearchTerm } from '../values/fields'
import { namedLazy } from '../values/named'

const Pages = z.nullable(z.int().check(z.minimum(1), z.maximum(MAX_INT)))

const CatalogueEntry = namedLazy('CatalogueEntry', () =>
  z.object({
    title: z.string(),
    author: z.nullable(z.string()),
    cover: z.nullable(z.string()),
    publisher: z.nullable(z.string()),
    itemPage: Pages,
  }),
)
export type CatalogueEntry = z.infer<typeof CatalogueEntry>
export const CatalogueList = z.lazy(() => z.array(CatalogueEntry).check(z.maxLength(10)))

const Name = z.string().check(z.minLength(1), z.maxLength(MAX_NAME))
const Matching = (pattern: RegExp) => z.string().check(z.regex(pattern))
/** Every value is one that a book can have. */
export const CatalogueEdition = namedLazy('CatalogueEdition', () =>
  z.object({
    title: Name,
    subtitle: z.nullable(Name),
    author: z.nullable(Name),
    publisher: z.nullable(Name),
    cover: z.nullable(Matching(/^https:\/\//).check(z.maxLength(MAX_COVER))),
    itemPage: Pages,
    isbn: z.nullable(Matching(/^97[89]\d{10}$/)),
    language: z.nullable(Matching(/^[a-z]{2,3}$/)),
    publishedYear: z.nullable(z.int().check(z.minimum(1000), z.maximum(2999))),
    sourceIds: z.array(Matching(/^[a-z\d]+:[!-~]{1,100}$/)).check(z.maxLength(3)),
  }),
)
export type CatalogueEdition = z.infer<typeof CatalogueEdition>
export const EditionList = z.lazy(() => z.array(CatalogueEdition).check(z.maxLength(10)))

export const SearchPath = z.lazy(() => z.object({ 'title-or-author': SearchTerm }))

/**
 * A source of catalogue entries. Each function returns at most ten, and none when nothing is found.
 * @throws CATALOGUE_FAILED, CATALOGUE_TIMED_OUT or CATALOGUE_BUSY
 */
export type Provider = {
  search: (titleOrAuthor: string) => Promise<CatalogueEdition[]>
  /** Of each book, the edition that matches best. */
  searchEditions: (titleOrAuthor: string) => Promise<CatalogueEdition[]>
  /** The edition with an ISBN-13, or none. */
  findByIsbn: (isbn: string) => Promise<CatalogueEdition[]>
  bestSellers: () => Promise<CatalogueEdition[]>
  newSpecial: () => Promise<CatalogueEdition[]>
}
