// Every flow that writes or fills a cache.
import { statisticsFile } from '../../../support/devices/statistics-file'
import { PIXEL } from '../../../support/inputs/file-form'
import { libraryFlows, recordDetails } from './library-flows'
import { asMember, type Flow, type FlowRequest, type MemberFlow, type Subject, type ToRequest } from './subjects'
import { syncFlows } from './sync-flows'

/** Its hash is what `insertMemberAt` stores. */
const PASSWORD = 'correct-horse-1'
const post = (path: string, body: object): FlowRequest => ({ method: 'POST', path, body })
const requestCode = ({ email }: Subject) => post('/email/join', { joinAuthCodeEmail: email })
const join = ({ email, code }: Subject) =>
  post('/join', { email, password: PASSWORD, name: 'Reader', authenticationCode: code })
const logIn = ({ email }: Subject) => post('/login', { email, password: PASSWORD })
const forgetPassword = ({ email }: Subject) => post('/email/password-reset', { email })
const resetPassword = ({ email, code }: Subject) =>
  post('/password-reset', { email, authenticationCode: code, password: 'another-horse-8' })
const undoChange = ({ code }: Subject) => post('/email/change/undo', { authenticationCode: code })

const requestChange = asMember(({ newEmail }) => ['POST', '/email/change', { email: newEmail, password: PASSWORD }])
const confirmChange = asMember(({ newEmail, code }) => [
  'PATCH',
  '/members/me/email',
  { email: newEmail, authenticationCode: code },
])

const newMemo = { memoBookPage: 1, memoContent: 'Written' }
const newToken = { name: 'Script', scopes: ['library:read'] }
const memberFlows: MemberFlow[] = [
  ['change the name', 200, () => ['PATCH', '/members/me', { name: 'Renamed' }]],
  ['change the password', 200, () => ['PATCH', '/members/me', { password: 'another-horse-8' }]],
  ['renew the session', 200, () => ['POST', '/sessions/renew']],
  ['end another session', 204, ({ otherSessions }) => ['DELETE', `/sessions/${otherSessions[0]}`], 404],
  ['end all other sessions', 204, () => ['DELETE', '/sessions']],
  ['log out', 204, () => ['POST', '/logout'], 401],
  ['create an access token', 201, () => ['POST', '/tokens', newToken]],
  ['delete all access tokens', 204, () => ['DELETE', '/tokens']],
  ['delete an access token', 204, ({ tokenId }) => ['DELETE', `/tokens/${tokenId}`], 404],
  ['create a link', 201, () => ['POST', '/links', { name: 'Shown', kind: 'MEMOS' }]],
  ['rename a link', 200, ({ linkId }) => ['PATCH', `/links/${linkId}`, { name: 'Renamed' }]],
  ['delete a link', 204, ({ linkId }) => ['DELETE', `/links/${linkId}`], 404],
  ['show a link', 200, ({ linkSecret }) => ['GET', `/l/${linkSecret}.json`]],
  ['withdraw', 204, () => ['DELETE', '/members/me'], 401],
  ['register a book', 201, () => ['POST', '/books', { title: 'Registered', bookStatus: 'DONE' }]],
  ['change a book', 200, ({ bookId }) => ['PATCH', `/books/${bookId}`, { star: 4, bookStatus: 'ING' }]],
  ['overwrite a date', 200, ({ bookId }) => ['PATCH', `/books/created-date/${bookId}`, '2024-01-01T00:00:00']],
  ['delete a book', 204, ({ bookId }) => ['DELETE', `/books/${bookId}`], 404],
  [
    'add a reading',
    201,
    ({ bookId }) => ['POST', `/books/${bookId}/readings`, { finishedAt: '2020-02-02', note: 'Added' }],
  ],
  [
    'change a reading',
    200,
    ({ readBookId }) => ['PATCH', `/readings/${readBookId}`, { rating: 4.5, finishedAt: '2024' }],
  ],
  ['delete a reading', 204, ({ readBookId }) => ['DELETE', `/readings/${readBookId}`], 404],
  ['write a memo', 201, ({ bookId }) => ['POST', `/memos?bookId=${bookId}`, newMemo]],
  ['change a memo', 200, ({ memoId }) => ['PATCH', `/memos/${memoId}`, { memoType: 'QUESTION' }]],
  ['delete a memo', 204, ({ memoId }) => ['DELETE', `/memos/${memoId}`], 404],
]

const addMemo = asMember(({ readBookId }) => ['POST', `/memos?bookId=${readBookId}`, newMemo])
const deleteBook = asMember(({ readBookId }) => ['DELETE', `/books/${readBookId}`])
const deleteMemo = asMember(({ memoId }) => ['DELETE', `/memos/${memoId}`])
const mergeBooks: MemberFlow[2] = ({ bookId, readBookId }) => ['POST', `/books/${readBookId}/merge`, { from: bookId }]
const restoreMerged: MemberFlow[2] = ({ bookId }) => ['POST', `/trash/book-${bookId}/restore`]
/** After the deletions above. */
const trashFlows: MemberFlow[] = [
  ['restore a book', 200, ({ readBookId }) => ['POST', `/trash/book-${readBookId}/restore`]],
  ['restore a memo', 200, ({ memoId }) => ['POST', `/trash/memo-${memoId}/restore`]],
  ['delete a book for good', 204, ({ readBookId }) => ['DELETE', `/trash/book-${readBookId}`], 404],
  ['empty the trash', 204, () => ['DELETE', '/trash']],
]

const upload: ToRequest = ({ token }) => ({ method: 'POST', path: '/memos/image-memo', token, file: PIXEL })
/** Finds the book of the document, and moves its page. */
const pushProgress: ToRequest = ({ deviceToken }) => ({
  method: 'PUT',
  path: '/koreader/syncs/progress',
  token: deviceToken,
  body: {
    ...{ document: 'pushed', progress: '12', percentage: 0.25, device: 'Kobo', device_id: '1' },
    metadata: { title: 'Pushed', authors: 'A Writer' },
  },
})
const addPushedBook = asMember(() => [
  'POST',
  '/books',
  { title: 'Pushed', author: 'A Writer', itemPage: 200, bookStatus: 'ING' },
])
const STATISTICS = statisticsFile({
  ...{ title: 'Pushed', authors: 'A Writer' },
  rows: [{ start: '2026-03-01T10:00:00Z', seconds: 90 }],
})
const sendStatistics: ToRequest = ({ deviceToken }) => ({
  method: 'PUT',
  path: '/dav/statistics.sqlite3',
  token: deviceToken,
  bytes: STATISTICS,
})
const deleteStatistics: MemberFlow = ['delete reading statistics', 204, () => ['DELETE', '/documents/statistics']]
const setBook: MemberFlow = [
  'set the book of a document',
  200,
  ({ bookId }) => ['PUT', '/documents/pushed/book', { bookId }],
]
const bestSellers = { method: 'GET', path: '/ext-lib/best-seller' }

const toFlow =
  (follows?: ToRequest[]) =>
  ([name, status, toRequest, repeatedStatus]: MemberFlow): Flow => {
    return { name, needs: 'member', follows, toRequest: asMember(toRequest), status, repeatedStatus }
  }

export const FLOWS: Flow[] = [
  { name: 'request a code', needs: 'nothing', toRequest: requestCode, status: 201 },
  { name: 'sign up', needs: 'nothing', follows: [requestCode], toRequest: join, status: 201, repeatedStatus: 409 },
  { name: 'log in', needs: 'member', toRequest: logIn, status: 200 },
  { name: 'request a password reset', needs: 'member', toRequest: forgetPassword, status: 202, writesLater: true },
  {
    name: 'reset the password',
    needs: 'member',
    follows: [forgetPassword],
    toRequest: resetPassword,
    status: 204,
    repeatedStatus: 400,
    usesCodeFirst: true,
  },
  { name: 'request a change of e-mail', needs: 'member', toRequest: requestChange, status: 202, writesLater: true },
  {
    name: 'change the e-mail',
    needs: 'member',
    follows: [requestChange],
    toRequest: confirmChange,
    status: 200,
    repeatedStatus: 400,
    mustMail: true,
  },
  {
    name: 'undo a change of e-mail',
    needs: 'member',
    follows: [requestChange, confirmChange],
    toRequest: undoChange,
    status: 204,
    repeatedStatus: 400,
  },
  ...memberFlows.map(toFlow()),
  ...libraryFlows.map(toFlow(recordDetails)),
  ...trashFlows.map(toFlow([addMemo, deleteBook, deleteMemo])),
  toFlow(recordDetails)(['merge books', 200, mergeBooks, 404]),
  toFlow([...recordDetails, asMember(mergeBooks)])(['restore a merged book', 200, restoreMerged]),
  { name: 'upload an image', needs: 'member', toRequest: upload, status: 201 },
  { name: 'push progress', needs: 'member', follows: [addPushedBook], toRequest: pushProgress, status: 200 },
  toFlow([pushProgress])(setBook),
  {
    name: 'send reading statistics',
    needs: 'member',
    follows: [addPushedBook],
    toRequest: sendStatistics,
    status: 204,
  },
  toFlow([addPushedBook, sendStatistics])(deleteStatistics),
  ...syncFlows,
  { name: 'list best sellers', needs: 'empty cache', toRequest: () => bestSellers, status: 200 },
]
