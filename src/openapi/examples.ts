// The examples of the document, in an order in which they can be executed: test/features/document/openapi.test.ts sends
// each request and expects its response.
import { sample } from '../catalogue/providers/sample'
import { BOOKS } from '../catalogue/providers/sample-books'
import { toEntry } from '../catalogue/store'
import { type Loaded, toPicture, toStats } from '../library/stats/figures'
import { drawYear } from '../library/stats/picture/draw'

export type Example = {
  parameters?: Record<string, unknown>
  body?: unknown
  /** The response body, if there is one. */
  response?: unknown
  /** Name of the file that is sent or received. */
  file?: string
  /** The code in the mail that the operation sends, if later examples need it. */
  mailedCode?: keyof typeof PLACEHOLDERS
  /** The token no longer works afterwards: `logIn` precedes the next operation that needs one. */
  endsSession?: true
}

/**
 * Values in the examples that differ each time. The tests that execute the examples replace them with actual values of
 * the same form, from earlier responses and mails (test/support/document/placeholders.ts).
 */
export const PLACEHOLDERS = {
  IMAGE_NAME: 'gKz3Yv0mQW6c9pVbR1xT2A.png',
  SESSION_ID: '0e9f7a52-4c1d-4b8e-9a36-d25c81f7b043',
  TOKEN_ID: '3f2a9c1e-5b7d-4e8a-9c60-1d2e3f4a5b6c',
  DEVICE_TOKEN_ID: 'c1d8e6f4-92ab-4c37-a5d0-7f3b6e48a92c',
  ACCESS_TOKEN: 'rl_0007Qk2mXc9TzB4vLr1HsW8yNdPgEa3fJ6xZ',
  LINK_ID: '7d1c4b90-2a6e-4f35-8b07-c9e4d5a16f82',
  LINK_SECRET: '000006Vt4kQ9mZx2LwR7bNcH1sJfYp8Ga1i9jw0',
  // Must follow the token, of which it is the beginning: the token is replaced first.
  TOKEN_HINT: 'rl_0007Qk2',
  CHANGE_CODE: 'P4W8D-NJ2XC',
  UNDO_CODE: '0000-3HVTB-8QKZM-R5E1Y-GS6A7-WN9FD-42PJX',
  RESET_CODE: 'K7QM2-9FXTR',
  /** {"c":1,"t":1,"p":"102748823590161"} */
  CURSOR: 'eyJjIjoxLCJ0IjoxLCJwIjoiMTAyNzQ4ODIzNTkwMTYxIn0',
  /** Its time, in milliseconds: that of all examples. */
  IMPORT_ID: '1795253400000',
}

/** The time of all examples. */
export const EXAMPLE_TIME = '2026-11-21T09:30:00'
/** The version of the service. */
export const EXAMPLE_VERSION = 'db7cd8d3-4425-4fe7-8c81-01bf963b6067'

const EXPORT_HEADER = 'Book Id,Title,Author,My Rating,Exclusive Shelf'
const NAMELESS = '81236,,Ana Ruiz,0,to-read'
/** The file of `startImport`. Its second book has no title, and the third one is like that of `registerBook`. */
export const EXPORT = `${EXPORT_HEADER}\n81234,The Salt Archive,Mina Oh,4,read\n${NAMELESS}\n81237,소년이 온다,한강,0,to-read\n`

const now = `${EXAMPLE_TIME}Z`
const password = 'read-more-1'
const mina = { email: 'mina@example.com', name: 'Mina' }
const renamed = { ...mina, name: 'Mina Kim' }
const origin = { device: 'Safari on iPhone', country: 'KR' }
const session = {
  sessionId: PLACEHOLDERS.SESSION_ID,
  createdAt: now,
  renewedAt: now,
  expiresAt: '2026-12-21T09:30:00Z',
  ...origin,
  current: true,
}
const newToken = { name: 'Backup script', scopes: ['library:read', 'memos:read'] }
const accessToken = {
  tokenId: PLACEHOLDERS.TOKEN_ID,
  ...newToken,
  createdAt: now,
  expiresAt: '2027-11-21T00:00:00Z',
  startsBooks: false,
}
const newLink = { name: 'What I have read', kind: 'SHELF', bookStatus: 'DONE', showName: true }
const createdLink = { linkId: PLACEHOLDERS.LINK_ID, ...newLink, tag: null, year: null, createdAt: now }
const link = { ...createdLink, name: 'Books I have read', lastUsedAt: null }

const catalogue = sample(async () => BOOKS)
const pageInfo = { page: 1, size: 10, totalElements: 1, totalPages: 1 }
const paging = { page: 1, size: 10 }

const bookParameters = { 'book-id': 1 }
const title = '소년이 온다'
const cover = 'https://covers.example.com/human-acts.jpg'
const registered = '2026-08-02T19:40:00'
const shortBook = { bookId: 1, title }
const book = { ...shortBook, cover }
const registeredBook = { ...book, author: '한강', publisher: '창비', createdAt: registered }
const begun = { star: 0, currentPage: 54, itemPage: 216, bookStatus: 'ING', readStartDate: null, readEndDate: null }
const finished = { star: 5, currentPage: 216, itemPage: 216, bookStatus: 'DONE' }
const reading = { readStartDate: '2026-11-01T20:00:00', readEndDate: '2026-11-20T23:10:00' }
const dates = { startedAt: '2026-11-01', finishedAt: '2026-11-20' }
const libraryBook = { ...book, author: '한강', createdAt: registered, ...finished, memoCount: 1 }
const listedBook = { ...libraryBook, publisher: '창비', ...reading }
const isbn = '9788936434120'
const noDetails = {
  subtitle: null,
  language: null,
  format: null,
  publishedYear: null,
  series: null,
  seriesNumber: null,
  seconds: null,
}
const details = {
  subtitle: '한강 장편소설',
  language: 'ko',
  format: 'PAPER',
  publishedYear: 2014,
  series: 'Korean Voices',
  seriesNumber: 2,
  seconds: 24_300,
}
const sourceIds = ['goodreads:23501957']
const edition = { ...book, isbn, ...noDetails, ...details, sourceIds }
const tagged = { tags: ['Gwangju', 'Novel', '소설'] }
const reachedPage = { page: 54, kind: 'PROGRESS', minutes: 40, seconds: null }
const progressEvent = { at: '2026-11-08T13:15:00Z', ...reachedPage, percent: 25, source: null }
const openReading = {
  readingId: 1,
  startedAt: null,
  finishedAt: null,
  outcome: null,
  rating: null,
  format: null,
  note: null,
  paused: false,
}
const readingId = 549_755_813_889
const firstReading = {
  readingId,
  startedAt: '2019',
  finishedAt: '2019-08',
  outcome: 'FINISHED' as const,
  rating: null,
  format: 'AUDIO' as const,
  note: null,
  paused: false,
}

const memo = {
  memoId: 1,
  memoType: 'THOUGHT',
  memoContent: 'Read this page again.',
  memoBookPage: 95,
  memoAuthority: 'PRIVATE',
  memoLikesCount: 0,
  createdAt: EXAMPLE_TIME,
  updatedAt: EXAMPLE_TIME,
}
const publicMemo = { ...memo, memoAuthority: 'PUBLIC' }
const { memoId, memoContent, memoLikesCount: _, ...foundMemo } = publicMemo
const deleted = { memoCount: 0, deletedAt: now, expiresAt: '2026-12-21T09:30:00Z' }
/** A test pushes it before. */
export const PUSHED = {
  document: 'd047e584e20000000000000000000000',
  progress: '/body/DocFragment[3]/body/p[1]/text().0',
  percentage: 0.35,
  device: 'Kobo',
  device_id: 'A1',
  metadata: { title: 'Demian', authors: 'Hermann Hesse', filename: 'demian.epub' },
}
/** It is the first book. */
export const PUSHED_BOOK = {
  ...PUSHED,
  document: '4f1d3c2b5a69788796a5b4c3d2e1f001',
  metadata: { title: `${title}: ${edition.subtitle}`, authors: '한강', filename: 'human-acts.epub' },
}
const document = {
  documentId: PUSHED.document,
  state: 'WAITING',
  ...{ title: 'Demian', authors: ['Hermann Hesse'], filename: 'demian.epub' },
  ...{ book: null, setByMember: false, percentage: PUSHED.percentage, device: PUSHED.device },
  ...{ tokenId: PLACEHOLDERS.DEVICE_TOKEN_ID, tokenName: 'My Kobo', pushedAt: now, minutes: 0 },
}
const image = PLACEHOLDERS.IMAGE_NAME
const imageUrl = `https://library.example.com/images/1/${image}`

const readBook = { ...book, author: '한강', pages: 216, language: 'ko', tags: ['소설'] }
const yearOfReading: Loaded = {
  year: 2019,
  readings: [{ ...readBook, ...firstReading, rating: 4.25, isReread: 0 }],
  events: [],
  memos: [],
  sittings: [],
  undated: 0,
  backlog: { books: 0, oldestCreatedAt: null },
  today: '2026-11-21',
}
const goal = { year: 2026, metric: 'BOOKS', target: 12 }

const importId = Number(PLACEHOLDERS.IMPORT_ID)
const importParameters = { 'import-id': importId }
const running = {
  importId,
  tokenId: null,
  fileName: null,
  status: 'RUNNING',
  format: 'goodreads',
  dryRun: false,
  merge: 'fill',
  encoding: 'utf-8',
  unknownColumns: [],
  unreadColumns: [],
  createdAt: now,
  rows: 3,
  counts: { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 },
  reason: null,
}
const imported = { ...running, status: 'DONE', counts: { ...running.counts, created: 2, failed: 1 } }
const row = { outcome: 'created', code: null, losses: [], changes: [], bookId: null, similarTo: null }

export const EXAMPLES: Record<string, Example> = {
  checkHealth: { response: { status: 'ok', version: EXAMPLE_VERSION, lastSweep: now } },
  requestCode: { body: { joinAuthCodeEmail: mina.email } },
  signUp: { body: { ...mina, password, authenticationCode: '000000' }, response: mina },
  logIn: { body: { email: mina.email, password }, response: mina },
  getProfile: { response: mina },
  updateProfile: { body: { name: 'Mina Kim' }, response: { ...renamed, updatedAt: EXAMPLE_TIME } },
  getSettings: { response: { timeZone: 'UTC' } },
  listSessions: { response: [session] },
  renewSession: { response: renamed },
  listActivity: { response: [{ at: now, firstAt: now, count: 1, kind: 'LOGIN', ...origin }] },
  endOtherSessions: {},
  endSession: { parameters: { 'session-id': PLACEHOLDERS.SESSION_ID }, endsSession: true },
  createToken: {
    body: { ...newToken, expiresAt: '2027-11-21T09:00:00+09:00' },
    response: { ...accessToken, token: PLACEHOLDERS.ACCESS_TOKEN, addresses: null },
  },
  listTokens: { response: [{ ...accessToken, hint: PLACEHOLDERS.TOKEN_HINT, lastUsedAt: null }] },
  deleteToken: { parameters: { 'token-id': accessToken.tokenId } },
  deleteTokens: {},
  requestEmailChange: { body: { email: 'mina.kim@example.com', password }, mailedCode: 'CHANGE_CODE' },
  changeEmail: {
    body: { email: 'mina.kim@example.com', authenticationCode: PLACEHOLDERS.CHANGE_CODE },
    response: { email: 'mina.kim@example.com', name: 'Mina Kim' },
    mailedCode: 'UNDO_CODE',
  },
  undoEmailChange: { body: { authenticationCode: PLACEHOLDERS.UNDO_CODE }, endsSession: true },
  requestPasswordReset: { body: { email: mina.email } },
  requestPasswordChange: { body: { tempPasswordEmail: mina.email }, mailedCode: 'RESET_CODE' },
  resetPassword: {
    body: { email: mina.email, authenticationCode: PLACEHOLDERS.RESET_CODE, password },
    endsSession: true,
  },
  searchCatalogue: {
    parameters: { 'title-or-author': 'petit' },
    response: (await catalogue.search('petit')).map(toEntry),
  },
  searchEditions: { parameters: { q: 'petit' }, response: await catalogue.searchEditions('petit') },
  listBestSellers: { response: (await catalogue.bestSellers()).map(toEntry) },
  listNewBooks: { response: (await catalogue.newSpecial()).map(toEntry) },
  registerBook: {
    body: { title, author: '한강', publisher: '창비', cover, itemPage: 216, isbn: '978-89-364-3412-0' },
    response: { ...shortBook, author: '한강', cover, bookStatus: 'YET' },
  },
  setCreatedDate: { parameters: bookParameters, body: registered, response: { bookId: 1, createdAt: registered } },
  listAbandoned: { parameters: paging, response: { item: [{ ...book, createdAt: registered }], pageInfo } },
  addProgress: {
    parameters: bookParameters,
    body: { percent: 25, minutes: 40, at: '2026-11-08T22:15:00+09:00' },
    response: { ...progressEvent, bookStatus: 'ING', readEndDate: null },
  },
  listSittings: {
    parameters: { ...bookParameters, size: 20 },
    response: {
      item: [{ date: '2026-11-08', minutes: 40, source: null, tokenId: null, tokenName: null }],
      next: null,
      deviceMinutes: 0,
      eventMinutes: 40,
    },
  },
  listProgress: { parameters: { ...bookParameters, size: 20 }, response: { item: [progressEvent], next: null } },
  listChanges: {
    parameters: { size: 100 },
    response: {
      item: [
        {
          kind: 'book',
          id: 1,
          value: {
            ...registeredBook,
            ...begun,
            edition: { isbn, ...noDetails, sourceIds: [] },
            tagIds: [],
            progress: { count: 1, latestAt: progressEvent.at, seconds: null, percent: 25, deviceMinutes: 0 },
          },
        },
        { kind: 'reading', id: 1, value: { ...openReading, bookId: 1 } },
      ],
      next: PLACEHOLDERS.CURSOR,
      hasMore: false,
    },
  },
  createMemo: {
    parameters: { bookId: 1 },
    body: { memoBookPage: 95, memoContent, memoType: 'THOUGHT' },
    response: memo,
  },
  getMemo: { parameters: { 'memo-id': 1 }, response: { ...memo, bookId: 1 } },
  updateMemo: { parameters: { 'memo-id': 1 }, body: { memoAuthority: 'PUBLIC' }, response: publicMemo },
  getWholeBook: {
    parameters: bookParameters,
    response: {
      ...{ ...registeredBook, ...begun, memoCount: 1, edition: { ...book, isbn, ...noDetails, sourceIds: [] } },
      ...{ tags: [], readings: [openReading], progress: progressEvent, memos: [publicMemo] },
    },
  },
  setGoal: {
    parameters: { year: 2026 },
    body: { metric: 'BOOKS', target: 12 },
    response: { ...goal, done: 0, expected: 11, ahead: -11 },
  },
  exportLibrary: {
    parameters: { part: 1 },
    response: {
      format: 'reading-library',
      version: 1,
      exportedAt: now,
      part: 1,
      last: true,
      member: { ...renamed, timeZone: null },
      goals: [goal],
      images: [],
      trash: [],
      books: [
        {
          ...registeredBook,
          ...begun,
          isbn,
          ...noDetails,
          sourceIds: [],
          tags: [],
          readings: [{ ...openReading, createdAt: null }],
          progress: [{ at: '2026-11-08T13:15:00.000Z', ...reachedPage }],
          memos: [publicMemo],
          sittings: [],
        },
      ],
    },
  },
  exportMemos: {
    parameters: { part: 1 },
    response: [
      '# Memos',
      `## ${title}`,
      'Author: 한강',
      '### Thought, page 95, 2026-11-21',
      '> Read this page again.\n\n',
    ].join('\n\n'),
  },
  updateBook: {
    parameters: bookParameters,
    body: { bookStatus: 'DONE', currentPage: 216, star: 5, ...reading },
    response: { author: '한강', publisher: '창비', ...finished, ...reading },
  },
  getGoal: { parameters: { year: 2026 }, response: { ...goal, done: 1, expected: 11, ahead: -10 } },
  deleteGoal: { parameters: { year: 2026 } },
  updateEdition: { parameters: bookParameters, body: { title, cover, ...details, sourceIds }, response: edition },
  getEdition: { parameters: bookParameters, response: edition },
  createLink: {
    body: newLink,
    response: { ...createdLink, url: `https://library.example.com/l/${PLACEHOLDERS.LINK_SECRET}` },
  },
  updateLink: { parameters: { 'link-id': link.linkId }, body: { name: link.name, showName: true }, response: link },
  listLinks: { response: [link] },
  showLink: {
    parameters: { link: `${PLACEHOLDERS.LINK_SECRET}.json`, size: 20 },
    response: {
      name: link.name,
      kind: 'SHELF',
      ownerName: renamed.name,
      item: [
        {
          ...book,
          author: '한강',
          bookStatus: 'DONE',
          outcome: 'FINISHED',
          rating: 5,
          createdAt: `${registered}Z`,
          ...dates,
        },
      ],
      next: null,
    },
  },
  deleteLink: { parameters: { 'link-id': link.linkId } },
  listLibrary: { parameters: { ...paging, bookStatus: 'DONE' }, response: { item: [libraryBook], pageInfo } },
  listBooksByIsbn: { parameters: { isbn: '89-364-3412-8' }, response: [libraryBook] },
  lookUpIsbn: {
    parameters: { isbn: '89-364-3412-8' },
    response: { isbn, bookCount: 1, books: [libraryBook], edition: (await catalogue.findByIsbn(isbn))[0] },
  },
  searchBooks: { parameters: { q: '소년', size: 10 }, response: { item: [libraryBook], next: null } },
  searchMemos: {
    parameters: { q: 'this page', memoType: 'ALL', bookId: 1, size: 10 },
    response: { item: [{ memoId, ...shortBook, ...foundMemo, excerpt: memoContent }], next: null },
  },
  listMemos: {
    parameters: {
      ...{ memoType: 'THOUGHT', memoAuthority: 'PUBLIC', q: 'this page', since: '2026-11-01T00:00:00Z' },
      ...{ include: 'book', size: 20 },
    },
    response: { item: [{ ...publicMemo, bookId: 1, book: { title, author: '한강', cover } }], next: null },
  },
  listCalender: {
    parameters: paging,
    response: { item: [{ bookId: 1, readEndDate: reading.readEndDate, cover }], pageInfo },
  },
  listMemoBooks: { parameters: paging, response: { item: [{ ...book, memoCount: 1 }], pageInfo } },
  setBookTags: {
    parameters: bookParameters,
    body: { tags: ['소설', 'Gwangju', 'To buy'] },
    response: { tags: ['Gwangju', 'To buy', '소설'] },
  },
  changeBookTags: { parameters: bookParameters, body: { add: ['Novel'], remove: ['to buy'] }, response: tagged },
  listBookTags: { parameters: bookParameters, response: tagged },
  renameTag: { body: { from: 'novel', to: '소설' }, response: { tag: '소설', bookCount: 1 } },
  listTags: { response: ['Gwangju', '소설'].map((tag) => ({ tag, bookCount: 1 })) },
  listTaggedBooks: { parameters: { tag: '소설', ...paging }, response: { item: [libraryBook], pageInfo } },
  exportBooks: {
    parameters: { part: 1 },
    response: [
      'Book Id,Title,Author,Author l-f,Additional Authors,ISBN,ISBN13,My Rating,Average Rating,Publisher,Binding,Number of Pages,Year Published,Original Publication Year,Date Read,Date Added,Bookshelves,Bookshelves with positions,Exclusive Shelf,My Review,Spoiler,Private Notes,Read Count,Owned Copies,read_dates,Subtitle',
      '23501957,소년이 온다,한강,,,"=""8936434128""","=""9788936434120""",5,,창비,Paperback,216,2014,,2026/11/20,2026/08/02,"Gwangju, 소설",,read,,,,1,,"2026-11-01,2026-11-20",한강 장편소설',
      '',
    ].join('\r\n'),
  },
  listBooks: {
    parameters: {
      ...{ status: 'DONE', tag: ['소설'], author: '한강', format: 'PAPER', sort: '-activity', size: 20 },
      include: 'edition,tags,readings,lastMemo',
    },
    response: {
      item: [
        {
          ...{ ...listedBook, edition, tags: ['Gwangju', '소설'], lastMemo: publicMemo },
          readings: [{ ...firstReading, readingId: 1, ...dates, rating: 5, format: null }],
        },
      ],
      next: null,
    },
  },
  countBooks: {
    response: {
      statuses: { YET: 0, ING: 0, DONE: 1 },
      formats: [{ format: 'PAPER', bookCount: 1 }],
      ratings: [{ star: 5, bookCount: 1 }],
      tags: ['Gwangju', '소설'].map((tag) => ({ tag, bookCount: 1 })),
      series: [{ series: 'Korean Voices', bookCount: 1 }],
      seriesCount: 1,
    },
  },
  getSeries: {
    parameters: { series: 'Korean Voices', size: 20 },
    response: { series: 'Korean Voices', missing: [1], item: [{ ...libraryBook, seriesNumber: 2 }], next: null },
  },
  listAuthors: { parameters: { size: 20 }, response: { item: [{ author: '한강', bookCount: 1 }], next: null } },
  deleteTag: { parameters: { tag: 'Gwangju' } },
  getBook: {
    parameters: { ...bookParameters, memoAuthority: 'ALL' },
    response: { ...registeredBook, ...finished, ...reading, memoCount: 1, memosList: [publicMemo] },
  },
  listBookMemos: {
    parameters: { ...bookParameters, ...paging, memoType: 'ALL' },
    response: { item: [publicMemo], pageInfo },
  },
  listReadings: {
    parameters: bookParameters,
    response: [{ ...firstReading, readingId: 1, ...dates, rating: 5, format: null }],
  },
  createReading: {
    parameters: bookParameters,
    body: { startedAt: '2019', finishedAt: '2019-08', format: 'AUDIO' },
    response: firstReading,
  },
  updateReading: {
    parameters: { 'reading-id': readingId },
    body: { rating: 4.25, note: 'On the train.' },
    response: { ...firstReading, rating: 4.25, note: 'On the train.' },
  },
  getStats: { parameters: { year: 2019 }, response: toStats(yearOfReading) },
  drawYear: {
    parameters: { year: 2019, theme: 'dark', size: 'card' },
    file: 'year.svg',
    response: drawYear(toPicture(yearOfReading), { theme: 'dark', size: 'card' }),
  },
  listStatsRows: {
    parameters: { year: 2019, figure: 'ratings', size: 20 },
    response: {
      item: [{ ...book, date: '2019-08', readingId, memoId: null, at: null, amount: 4.25, name: null }],
      next: null,
    },
  },
  deleteReading: { parameters: { 'reading-id': readingId } },
  drawMemo: { response: [{ memoId: 1, memoContent, memoType: 'THOUGHT', memoBookPage: 95 }] },
  uploadMemoImage: { file: 'page.png', response: imageUrl },
  loadImage: { parameters: { 'member-id': 1, name: image }, file: 'page.png' },
  startImport: {
    parameters: { dryRun: 'false', keepVisibility: 'false', merge: 'fill' },
    file: 'goodreads_library_export.csv',
    response: running,
  },
  getImport: { parameters: importParameters, response: imported },
  listImports: { parameters: { from: 'member' }, response: [imported] },
  listImportRows: {
    parameters: { ...importParameters, ...paging, outcome: 'ALL' },
    response: {
      item: [
        { line: 2, title: 'The Salt Archive', ...row, bookId: 2 },
        { line: 3, title: null, ...row, outcome: 'failed', code: 'no-title' },
        { line: 4, title, ...row, code: 'possible-duplicate', bookId: 3, similarTo: shortBook },
      ],
      pageInfo: { ...pageInfo, totalElements: 3 },
    },
  },
  getFailedRows: { parameters: importParameters, file: 'failed.csv', response: `${EXPORT_HEADER}\r\n${NAMELESS}\r\n` },
  mergeBooks: { parameters: bookParameters, body: { from: 3 }, response: listedBook },
  undoImport: { parameters: importParameters, response: { removed: 1, restored: 0, kept: [] } },
  listImages: {
    parameters: paging,
    response: {
      item: [{ memberId: 1, name: image, type: 'image/png', bytes: 1285, createdAt: EXAMPLE_TIME, url: imageUrl }],
      pageInfo,
    },
  },
  deleteImage: { parameters: { 'member-id': 1, name: image } },
  deleteMemo: { parameters: { 'memo-id': 1 } },
  listTrash: {
    parameters: { size: 20 },
    response: {
      item: [
        { trashId: 'book-3', kind: 'book', memoId: null, bookId: 3, title, excerpt: null, ...deleted },
        { trashId: 'memo-1', kind: 'memo', memoId, ...shortBook, excerpt: memoContent, ...deleted },
      ],
      next: null,
    },
  },
  restore: { parameters: { 'trash-id': 'memo-1' }, response: { book: null, memo: { ...publicMemo, bookId: 1 } } },
  listDocuments: { parameters: { state: 'WAITING', size: 20 }, response: { item: [document], next: null } },
  setDocumentBook: {
    parameters: { 'document-id': document.documentId },
    body: { bookId: 1 },
    response: { ...document, state: 'LINKED', book: { bookId: 1, title }, setByMember: true },
  },
  listDeviceChanges: {
    parameters: { 'token-id': PLACEHOLDERS.DEVICE_TOKEN_ID, size: 20 },
    response: {
      item: [
        {
          at: now,
          kind: 'document',
          import: null,
          book: shortBook,
          page: null,
          documentId: PUSHED_BOOK.document,
          minutes: null,
        },
      ],
      next: null,
    },
  },
  undoDevice: {
    parameters: { 'token-id': PLACEHOLDERS.DEVICE_TOKEN_ID },
    body: { since: '2026-11-21T00:00:00Z' },
    response: { imports: 0, books: 0, memos: 0, progress: 0, documents: 1, minutes: 0, kept: [], hasMore: false },
  },
  updateBooks: {
    body: { ids: [1, 3], set: { star: 5, series: '소설' }, addTags: ['Novel'], removeTags: ['To buy'] },
    response: { changed: [1], unchanged: [], missing: [3] },
  },
  deleteBook: { parameters: bookParameters },
  deleteBooks: { body: { ids: [3] }, response: { deleted: [], left: [], missing: [3] } },
  deleteForGood: { parameters: { 'trash-id': 'book-1' } },
  emptyTrash: {},
  deleteReadingStatistics: {},
  logOut: { endsSession: true },
  withdraw: {},
}
