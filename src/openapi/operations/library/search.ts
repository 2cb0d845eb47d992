import { LibraryBook } from '../../../library/books/responses'
import { FoundMemo } from '../../../library/search/responses'
import { listOf } from '../../../values/responses'
import { json, type Operations } from '../operation'

export const searchOperations: Operations = {
  'GET /books/search': {
    operationId: 'searchBooks',
    summary: 'Search your books',
    description:
      'Books whose title, author or publisher contains `q`, newest first, regardless of case. In publishers, the case of ' +
      'letters beyond ASCII matters. A request searches at most 1,000 books, so a page can be short or empty: the list ' +
      'ends when `next` is null.',
    responses: { 200: json(listOf(LibraryBook), 'A page of matching books') },
  },
  'GET /memos/search': {
    operationId: 'searchMemos',
    summary: 'Search your memos',
    description:
      'Memos that contain `q`, newest first, regardless of case, in all books or in one. Memos are searched as they are ' +
      'stored: in HTML, tags and entities are part of the text. A request searches at most 1,000 memos or about 4 MiB of ' +
      'text, so a page can be short or empty: the list ends when `next` is null.',
    responses: { 200: json(listOf(FoundMemo), 'A page of matching memos') },
    errors: ['BOOK_NOT_FOUND'],
  },
}
