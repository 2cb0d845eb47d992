// The story that the document's examples tell, in order: each answer is what the service gives to its request, and
// test/openapi.test.ts plays it.
import { sample } from './catalogue/providers/sample'

export type Example = {
  parameters?: Record<string, unknown>
  body?: unknown
  /** The answer's body; undefined where there is none. */
  answer?: unknown
}

/** When it happens. */
export const EXAMPLE_TIME = '2026-11-21T09:30:00'

const catalogue = sample()
const pageInfo = { page: 1, size: 10, totalElements: 1, totalPages: 1 }
const paging = { page: 1, size: 10 }
const book = {
  bookId: 1,
  title: '소년이 온다',
  cover: 'https://covers.example.com/human-acts.jpg',
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
const reading = { readStartDate: '2026-11-01T20:00:00', readEndDate: '2026-11-20T23:10:00' }
const registered = '2026-08-02T19:40:00'
const image = 'gKz3Yv0mQW6c9pVbR1xT2A.png'

export const EXAMPLES: Record<string, Example> = {
  checkHealth: { answer: { status: 'ok' } },
  requestCode: { body: { joinAuthCodeEmail: 'mina@example.com' } },
  signUp: {
    body: { email: 'mina@example.com', name: 'Mina', password: 'read-more-1', authenticationCode: '000000' },
    answer: { email: 'mina@example.com', name: 'Mina' },
  },
  logIn: {
    body: { email: 'mina@example.com', password: 'read-more-1' },
    answer: { email: 'mina@example.com', name: 'Mina' },
  },
  getProfile: { answer: { email: 'mina@example.com', name: 'Mina' } },
  updateProfile: {
    body: { name: 'Mina Kim' },
    answer: { email: 'mina@example.com', name: 'Mina Kim', updatedAt: EXAMPLE_TIME },
  },
  searchCatalogue: { parameters: { 'title-or-author': 'petit' }, answer: await catalogue.search('petit') },
  listBestSellers: { answer: await catalogue.bestSellers() },
  listNewBooks: { answer: await catalogue.newSpecial() },
  registerBook: {
    body: { title: book.title, author: '한강', publisher: '창비', cover: book.cover, itemPage: 216 },
    answer: { bookId: 1, title: book.title, author: '한강', cover: book.cover, bookStatus: 'YET' },
  },
  setCreatedDate: {
    parameters: { 'book-id': 1 },
    body: registered,
    answer: { bookId: 1, createdAt: registered },
  },
  listAbandoned: {
    parameters: paging,
    answer: { item: [{ ...book, createdAt: registered }], pageInfo },
  },
  updateBook: {
    parameters: { 'book-id': 1 },
    body: { bookStatus: 'DONE', currentPage: 216, star: 5, ...reading },
    answer: {
      author: '한강',
      publisher: '창비',
      itemPage: 216,
      ...reading,
      bookStatus: 'DONE',
      star: 5,
      currentPage: 216,
    },
  },
  createMemo: {
    parameters: { bookId: 1 },
    body: { memoBookPage: 95, memoContent: 'Read this page again.', memoType: 'THOUGHT' },
    answer: memo,
  },
  updateMemo: {
    parameters: { 'memo-id': 1 },
    body: { memoAuthority: 'PUBLIC' },
    answer: { ...memo, memoAuthority: 'PUBLIC' },
  },
  listLibrary: {
    parameters: { ...paging, bookStatus: 'DONE' },
    answer: {
      item: [
        {
          ...book,
          author: '한강',
          createdAt: registered,
          star: 5,
          currentPage: 216,
          itemPage: 216,
          bookStatus: 'DONE',
          memoCount: 1,
        },
      ],
      pageInfo,
    },
  },
  listCalender: {
    parameters: paging,
    answer: { item: [{ bookId: 1, readEndDate: reading.readEndDate, cover: book.cover }], pageInfo },
  },
  listMemoBooks: { parameters: paging, answer: { item: [{ ...book, memoCount: 1 }], pageInfo } },
  getBook: {
    parameters: { 'book-id': 1, memoAuthority: 'ALL' },
    answer: {
      ...book,
      author: '한강',
      publisher: '창비',
      createdAt: registered,
      star: 5,
      currentPage: 216,
      itemPage: 216,
      bookStatus: 'DONE',
      ...reading,
      memoCount: 1,
      memosList: [{ ...memo, memoAuthority: 'PUBLIC' }],
    },
  },
  listBookMemos: {
    parameters: { 'book-id': 1, ...paging, memoType: 'ALL' },
    answer: { item: [{ ...memo, memoAuthority: 'PUBLIC' }], pageInfo },
  },
  drawMemo: {
    answer: [{ memoId: 1, memoContent: memo.memoContent, memoType: 'THOUGHT', memoBookPage: 95 }],
  },
  uploadMemoImage: { answer: `https://library.example.com/images/1/${image}` },
  loadImage: { parameters: { 'member-id': 1, name: image } },
  deleteMemo: { parameters: { 'memo-id': 1 } },
  deleteBook: { parameters: { 'book-id': 1 } },
  withdraw: {},
}
