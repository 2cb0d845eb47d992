import type { ErrorCode } from '../errors'
import { type FeatureReference, json } from '../http/description/feature-reference'
import { CatalogueList } from './schema'

export const CATALOGUE_ERRORS: ErrorCode[] = ['CATALOGUE_FAILED', 'CATALOGUE_TIMED_OUT', 'CATALOGUE_BUSY']

export const catalogueReference: FeatureReference = {
  tag: 'Catalogue',
  schemas: { CatalogueEntry: 'A book in the external catalogue. Its fields can be sent to register the book.' },
  parameters: {
    'title-or-author':
      'Part of a title or an author: 1 to 100 characters, not counting leading and trailing spaces. May contain slashes.',
  },
  operations: {
    'GET /ext-lib/best-seller': {
      operationId: 'listBestSellers',
      summary: 'List best sellers',
      description: 'At most ten, in the order of the provider. Needs no token.',
      responses: { 200: json(CatalogueList, 'The books', 'Cache-Control') },
      errors: CATALOGUE_ERRORS,
    },
    'GET /ext-lib/item-new-special': {
      operationId: 'listNewBooks',
      summary: 'List notable new books',
      description: 'At most ten, as selected by the provider. Needs no token.',
      responses: { 200: json(CatalogueList, 'The books', 'Cache-Control') },
      errors: CATALOGUE_ERRORS,
    },
    'GET /ext-lib/{title-or-author}': {
      operationId: 'searchCatalogue',
      summary: 'Search the catalogue by title or author',
      description:
        'At most ten results, or an empty array. Needs no token. The search term is the rest of the path: slashes may ' +
        'be sent as they are or as `%2F`. Encode `?`, `#` and `%`. `best-seller` and `item-new-special` return the lists instead. ' +
        'At most 100 searches an hour and 300 a day per network, unless the operator uses the sample catalogue.',
      responses: { 200: json(CatalogueList, 'The matching books', 'Cache-Control') },
      errors: [...CATALOGUE_ERRORS, 'UNAVAILABLE'],
    },
  },
}
