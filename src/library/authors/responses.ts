import type * as z from 'zod/mini'
import { type FeatureReference, json } from '../../openapi/feature-reference'
import { MAX_NAME } from '../../values/contract'
import { Int32 } from '../../values/fields'
import { namedObject } from '../../values/named'
import { listOf, textUpTo } from '../../values/responses'

export const Author = namedObject('Author', { author: textUpTo(MAX_NAME), bookCount: Int32 })
export type Author = z.infer<typeof Author>

export const authorsReference: FeatureReference = {
  tag: 'Books',
  schemas: { Author: 'An author of your books.', AuthorList: 'A page of authors.' },
  properties: { author: 'The author, spelled as in the first of its books.' },
  operations: {
    'GET /authors': {
      operationId: 'listAuthors',
      summary: 'List the authors of your books',
      description:
        'In alphabetical order, regardless of case. Authors that differ only in case are one author, spelled as in the ' +
        'first of its books. A new spelling of its only book replaces that.',
      responses: { 200: json(listOf(Author), 'A page of authors') },
    },
  },
}
