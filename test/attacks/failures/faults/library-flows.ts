// Flows that write what members record about their books beyond the contract.
import { asMember, type MemberFlow } from './subjects'

/** The requests that come before these flows. */
export const recordDetails = [
  asMember(({ bookId }) => ['PUT', `/books/${bookId}/tags`, { tags: ['Kept', 'Merged'] }]),
  asMember(({ bookId }) => ['PATCH', `/books/${bookId}/edition`, { series: 'Kept' }]),
  asMember(({ bookId }) => ['POST', `/books/${bookId}/progress`, { page: 10 }]),
]

export const libraryFlows: MemberFlow[] = [
  ['change the page', 200, ({ bookId }) => ['PATCH', `/books/${bookId}`, { currentPage: 40 }]],
  [
    'change an edition',
    200,
    ({ bookId }) => ['PATCH', `/books/${bookId}/edition`, { isbn: '9788936434120', series: null }],
  ],
  ['add progress', 201, ({ bookId }) => ['POST', `/books/${bookId}/progress`, { page: 40 }]],
  ['finish a book', 200, ({ readBookId }) => ['PATCH', `/books/${readBookId}`, { bookStatus: 'DONE' }]],
  [
    'finish with a page',
    201,
    ({ readBookId }) => ['POST', `/books/${readBookId}/progress`, { page: 40, finish: true, date: '2026-01-02' }],
  ],
  [
    'change books',
    200,
    ({ bookId, readBookId }) => [
      ...(['PATCH', '/books'] as const),
      { ids: [bookId, readBookId], set: { bookStatus: 'YET', series: 'New' }, addTags: ['New'], removeTags: ['Kept'] },
    ],
  ],
  ['delete books', 200, ({ bookId, readBookId }) => ['POST', '/books/delete', { ids: [bookId, readBookId] }]],
  ['tag a book', 200, ({ bookId }) => ['PUT', `/books/${bookId}/tags`, { tags: ['Kept', 'New'] }]],
  ['add and remove tags', 200, ({ bookId }) => ['PATCH', `/books/${bookId}/tags`, { add: ['New'], remove: ['Kept'] }]],
  ['rename a tag', 200, () => ['PATCH', '/tags', { from: 'Kept', to: 'Renamed' }], 404],
  ['merge tags', 200, () => ['PATCH', '/tags', { from: 'Kept', to: 'Merged' }], 404],
  ['delete a tag', 204, () => ['DELETE', '/tags?tag=Kept'], 404],
]
