import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { MAX_NAME } from '../../values/contract'
import { named } from '../../values/named'
import { Id, listOf, textUpTo } from '../../values/responses'
import { MAX_WORDS } from '../../values/text/search-words'
import { LibraryBook } from '../books/responses'
import { Memo } from '../memos/responses'
import { WINDOW } from './schema'

export const FoundMemo = named(
  'FoundMemo',
  z.extend(z.omit(Memo, { memoContent: true, memoLikesCount: true }), {
    bookId: Id,
    title: textUpTo(MAX_NAME),
    // NFC can triple the length of rare characters.
    excerpt: textUpTo(3 * WINDOW),
  }),
)
export type FoundMemo = z.infer<typeof FoundMemo>

export const searchReference: FeatureReference = {
  tag: 'Search',
  schemas: {
    FoundMemo: 'A memo that matches a search, with an excerpt.',
    FoundMemoList: 'A page of memos that match a search.',
  },
  properties: {
    excerpt:
      'About 160 characters around the match, that is all of `q` or else its longest word: plain text without tags, in NFC, with `…` where it is cut. If the match is in a tag, the text next to it. Escape it before rendering it as HTML.',
  },
  parameters: {
    q: `Up to ${MAX_WORDS} words or parts of words, in any order, separated by spaces or hyphens: 2 to 100 characters without leading and trailing spaces, or one Chinese, Japanese or Korean character.`,
  },
  operations: {
    'GET /books/search': {
      operationId: 'searchBooks',
      summary: 'Search your books',
      description:
        'Books that have each word of `q` in their title, subtitle, author, publisher, ISBN or one of their tags, newest ' +
        'first. Texts are compared regardless of case, of the marks of Latin and Greek letters, and of the kind of ' +
        'apostrophe, quotation mark or hyphen. An ISBN may be sent with 10 or 13 digits, and with hyphens. A request ' +
        'searches at most 1,000 books, so a page can be short or empty: the list ends when `next` is null.',
      responses: { 200: json(listOf(LibraryBook), 'A page of matching books') },
    },
    'GET /memos/search': {
      operationId: 'searchMemos',
      summary: 'Search your memos',
      description:
        'Memos that have each word of `q`, newest first, in all books or in one, compared as described for `searchBooks`. ' +
        'Memos are searched as they are stored: in HTML, tags and entities are part of the text. A request searches at most 1,000 memos or about 4 MiB of ' +
        'text, so a page can be short or empty: the list ends when `next` is null.',
      responses: { 200: json(listOf(FoundMemo), 'A page of matching memos') },
      errors: ['BOOK_NOT_FOUND'],
    },
  },
}
