import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../../http/description/feature-reference'
import { MAX_TAG } from '../../../values/contract'
import { named } from '../../../values/named'
import { listOf, listUpTo, textUpTo } from '../../../values/responses'
import { Edition } from '../../editions/responses'
import { Memo } from '../../memos/responses'
import { ProgressEvent } from '../../progress/responses'
import { Reading } from '../../readings/responses'
import { MAX_BOOK_TAGS } from '../../tags/schema'
import { ListedBook } from '../responses'
import { INCLUDES, MAX_EXCERPT, MAX_FILTER_ROWS, MAX_WANTED_TAGS } from '../schema'

/** What `include` adds to a book. */
export const BookParts = z.object({
  edition: Edition,
  tags: listUpTo(MAX_BOOK_TAGS, textUpTo(MAX_TAG)),
  readings: listUpTo(1, Reading),
  progress: z.nullable(ProgressEvent),
  lastMemo: z.nullable(Memo),
})
export type BookParts = z.infer<typeof BookParts>

const BookWithParts = named('BookWithParts', z.extend(ListedBook, z.partial(BookParts).shape))
export type BookWithParts = z.infer<typeof BookWithParts>

/** The descriptions of `BookParts`, for all schemas that have them. */
export const PART_DESCRIPTIONS = {
  edition: 'As `getEdition` returns it.',
  tags: 'As `listBookTags` returns them.',
  readings: `The current reading; for a book that is \`YET\`, the past reading that was added last. Empty if there is none. \`note\` is cut after ${MAX_EXCERPT} characters.`,
  progress: 'The latest event. Null if there is none.',
  lastMemo: `The newest memo. Its content is cut after ${MAX_EXCERPT} characters. Null if there is none.`,
}

export const bookListReference: FeatureReference = {
  tag: 'Books',
  schemas: {
    BookWithParts: 'A book with all its fields, and the parts that `include` names.',
    BookWithPartsList: 'A page of books.',
  },
  ownProperties: PART_DESCRIPTIONS,
  parameters: {
    author: 'Only books by this author, compared as described for `listAuthors`.',
    'listBooks.format': 'Only books in this format.',
    include: `What to add to each book: ${INCLUDES.map((name) => `\`${name}\``).join(', ')}, or several, separated by commas. An access token needs \`memos:read\` for \`lastMemo\`.`,
    'listBooks.isbn': 'Only books with this ISBN-10 or ISBN-13. Either form finds the other.',
    'listBooks.q':
      'Only books with each word of this term in a field or the ISBN, as in `searchBooks`; tags are not searched.',
    'listBooks.tag': `Only books with this tag, regardless of case and marks. Can be repeated, up to ${MAX_WANTED_TAGS} times, for books with all of the tags.`,
    series: 'Only books of this series, spelled as in the edition.',
    since:
      'Only books with activity since this time, in RFC 3339 format, with `Z` or an offset, whose `+` is sent as `%2B`.',
    sort: 'Order of the list.\n\n- `created`: by registration; `setCreatedDate` does not change it\n- `title`, `author`: alphabetical, compared as described for `searchBooks`, without leading punctuation\n- `finished`: by `readEndDate`\n- `rating`: by `star`\n- `activity`: by the latest progress, new memo or change of status. Of what an import adds, only progress counts\n\nWith `-`, in reverse.',
    status: 'Only books of this status.',
  },
  operations: {
    'GET /books': {
      operationId: 'listBooks',
      summary: 'List, sort and filter books',
      description:
        'All books, or those that match all filters. A `-` before the sort reverses it. Books without a value to sort by come ' +
        'last in both directions, newest registration first: for `author`, books without one; for `finished`, books that ' +
        'are not `DONE` or have no `readEndDate`; for `rating`, unrated books; for `activity`, books without any since they ' +
        'were registered as `YET` or imported. With filters, a request examines at most ' +
        `${(MAX_FILTER_ROWS / 2).toLocaleString('en')} books, so a page can be short or empty: the list ends when \`next\` is null.`,
      responses: { 200: json(listOf(BookWithParts), 'A page of books') },
    },
  },
}
