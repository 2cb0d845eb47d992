// Flows of clients that synchronize: creations that may be repeated, edits of a version, and the beginning of the log of changes.
import { PIXEL } from '../../../support/inputs/file-form'
import { asMember, type Flow, type MemberFlow, type ToRequest } from './subjects'

/** Whatever is created with a key, so that `readState` counts it. */
const ONCE = 'Once'

const once = (toRequest: ToRequest): ToRequest => {
  return (subject) => ({ ...toRequest(subject), headers: { 'Idempotency-Key': ONCE } })
}
const creations: [name: string, toRequest: MemberFlow[2]][] = [
  ['register a book with a key', () => ['POST', '/books', { title: ONCE }]],
  ['register a book by ISBN with a key', () => ['POST', '/books', { isbn: '9788936434120' }]],
  [
    'write a memo with a key',
    ({ bookId }) => ['POST', `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: ONCE }],
  ],
  [
    'add a reading with a key',
    ({ bookId }) => ['POST', `/books/${bookId}/readings`, { finishedAt: '2020', note: ONCE }],
  ],
]

const ofVersion = (toRequest: ToRequest): ToRequest => {
  return (subject) => ({ ...toRequest(subject), headers: { 'If-Match': subject.memoTag } })
}

const removeBook = asMember(({ bookId }) => ['DELETE', `/books/${bookId}`])

export const syncFlows: Flow[] = [
  ...creations.map(([name, toRequest]): Flow => {
    return { name, needs: 'member', toRequest: once(asMember(toRequest)), status: 201 }
  }),
  {
    name: 'upload an image with a key',
    needs: 'member',
    toRequest: once(({ token }) => ({ method: 'POST', path: '/memos/image-memo', token, file: PIXEL })),
    status: 201,
  },
  {
    name: 'change a version of a memo',
    needs: 'member',
    toRequest: ofVersion(asMember(({ memoId }) => ['PATCH', `/memos/${memoId}`, { memoContent: 'Changed' }])),
    status: 200,
    // With the text that was sent.
    repeatedStatus: 412,
  },
  {
    name: 'delete a version of a memo',
    needs: 'member',
    toRequest: ofVersion(asMember(({ memoId }) => ['DELETE', `/memos/${memoId}`])),
    status: 204,
    repeatedStatus: 404,
  },
  {
    name: 'delete a book that has not changed',
    needs: 'member',
    follows: [asMember(() => ['GET', '/changes'])],
    toRequest: (subject) => ({ ...removeBook(subject), headers: { 'If-Unchanged-Since': subject.cursor } }),
    status: 204,
    repeatedStatus: 404,
  },
  { name: 'begin to synchronize', needs: 'member', toRequest: asMember(() => ['GET', '/changes']), status: 200 },
]
