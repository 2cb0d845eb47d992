import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../openapi/feature-reference'
import { MAX_NAME } from '../../values/contract'
import { Int32 } from '../../values/fields'
import { listOf } from '../../values/responses'

export const Author = z
  .object({ author: z.string().check(z.maxLength(MAX_NAME)), bookCount: Int32 })
  .register(z.globalRegistry, { id: 'Author' })
export type Author = z.infer<typeof Author>

export const authorsReference: FeatureReference = {
  tag: 'Books',
  schemas: {
    Author: 'An author of your books.',
    AuthorList: 'A page of authors.',
  },
  properties: { author: 'The author, spelled as in the book that was registered first.' },
  operations: {
    'GET /authors': {
      operationId: 'listAuthors',
      summary: 'List the authors of your books',
      description:
        'In alphabetical order, regardless of case. Authors that differ only in case are one author, spelled as in the book ' +
        'that was registered first.',
      responses: { 200: json(listOf(Author), 'A page of authors') },
    },
  },
}
