import type * as z from 'zod/mini'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { MAX_NAME } from '../../values/contract'
import { Int32 } from '../../values/fields'
import { namedObject } from '../../values/named'
import { listOf, textUpTo } from '../../values/responses'

export const Author = namedObject('Author', { author: textUpTo(MAX_NAME), bookCount: Int32 })
export type Author = z.infer<typeof Author>

export const authorsReference: FeatureReference = {
  tag: 'Books',
  schemas: { Author: 'An author of your books.', AuthorList: 'A page of authors.' },
  ownProperties: { author: 'The author, spelled as described for `listAuthors`.' },
  operations: {
    'GET /authors': {
      operationId: 'listAuthors',
      summary: 'List the authors of your books',
      description:
        'In alphabetical order, compared as described for `searchBooks`, without leading punctuation. Equal ones are one ' +
        'author, with the spelling that was used first. If an author has only one book, changing the spelling in that book changes it here.',
      responses: { 200: json(listOf(Author), 'A page of authors') },
    },
  },
}
