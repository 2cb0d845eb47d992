import * as z from 'zod/mini'
import { CATALOGUE_ERRORS } from '../../catalogue/responses'
import { CatalogueEdition, EditionList } from '../../catalogue/schema'
import { CATALOGUE_LOOKUPS } from '../../db/limits/attempts'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { named } from '../../values/named'
import { listUpTo } from '../../values/responses'
import { LibraryBook } from '../books/responses'
import { MAX_SAME_ISBN } from '../editions/schema'

const IsbnLookup = named(
  'IsbnLookup',
  z.object({
    isbn: z.string().check(z.regex(/^97[89]\d{10}$/)),
    bookCount: z.int().check(z.minimum(0), z.maximum(MAX_SAME_ISBN)),
    books: listUpTo(MAX_SAME_ISBN, LibraryBook),
    edition: z.nullable(CatalogueEdition),
  }),
)
export type IsbnLookup = z.infer<typeof IsbnLookup>

const [HOUR, DAY] = CATALOGUE_LOOKUPS
const LIMIT = `At most ${HOUR?.max} requests an hour and ${DAY?.max} a day reach the provider per member, unless the operator uses the sample catalogue.`

export const lookupReference: FeatureReference = {
  tag: 'Catalogue',
  schemas: {
    CatalogueEdition: 'An edition in the external catalogue.',
    IsbnLookup: 'What is known of an ISBN.',
  },
  properties: {
    'IsbnLookup.isbn': 'The ISBN-13 without hyphens.',
    bookCount: 'Number of `books`.',
    'IsbnLookup.books': `Your books with the ISBN, newest registration first, at most ${MAX_SAME_ISBN}.`,
    'IsbnLookup.edition': 'The edition in the catalogue. Null if the catalogue does not know the ISBN.',
    'CatalogueEdition.title': 'Title of the edition.',
    'CatalogueEdition.author': 'Authors, separated by commas. Null if unknown.',
    'CatalogueEdition.cover': 'URL of the cover image. Null if unknown.',
    'CatalogueEdition.itemPage':
      'Number of pages. Null if unknown. In a search of Open Library, the median of all editions of the book.',
    'CatalogueEdition.language': 'Language of the edition, as a tag such as `ko`. Null if unknown.',
    'CatalogueEdition.publishedYear': 'Year in which the edition was published. Null if unknown.',
    'CatalogueEdition.sourceIds': 'Identifiers of the edition in other services, such as `openlibrary:OL22853304M`.',
  },
  parameters: {
    'searchEditions.q': 'Part of a title or an author: 1 to 100 characters, not counting leading and trailing spaces.',
  },
  operations: {
    'GET /catalogue/isbn/{isbn}': {
      operationId: 'lookUpIsbn',
      summary: 'Look up an ISBN',
      description:
        'Your own books with the ISBN, and what the catalogue knows of it: `registerBook` with only the `isbn` registers that ' +
        `edition. Editions are cached for a day. If the catalogue fails, \`listBooksByIsbn\` still lists your books. ${LIMIT}`,
      responses: { 200: json(IsbnLookup, 'Your books, and the edition') },
      errors: CATALOGUE_ERRORS,
    },
    'GET /catalogue/search': {
      operationId: 'searchEditions',
      summary: 'Search the catalogue for editions',
      description: `At most ten, of each book the edition that matches best. Search when the user has typed, not with each key. ${LIMIT}`,
      responses: { 200: json(EditionList, 'The matching editions') },
      errors: CATALOGUE_ERRORS,
    },
  },
}
