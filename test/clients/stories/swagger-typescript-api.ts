// swagger-typescript-api generates a class, and enums; its methods throw the response if it is an error.
import {
  Api,
  BookStatus,
  type ErrorResponse,
  type HttpResponse,
  MemoType,
} from '../.build/swagger-typescript-api/api.ts'
import { pictureFile } from './picture.ts'

/** Signs up, logs in, registers a book, writes a memo with an image, and returns what it read. */
export const tellStory = async (baseUrl: string, email: string) => {
  const api = new Api<string>({
    baseUrl,
    securityWorker: (token) => (token ? { headers: { Authorization: token } } : {}),
  })
  const member = { email, password: 'read-more-1' }
  const joined = await api.join.signUp({ ...member, name: 'Reader', authenticationCode: '000000' })
  const login = await api.login.logIn(member)
  api.setSecurityData(login.headers.get('Authorization'))

  const { data: book } = await api.books.registerBook({ title: 'Demian', bookStatus: BookStatus.ING })
  const { data: image } = await api.memos.uploadMemoImage({ file: pictureFile })
  const { data: memo } = await api.memos.createMemo(
    { bookId: book.bookId },
    { memoBookPage: 95, memoContent: `<img src="${image}">`, memoType: MemoType.THOUGHT },
  )

  const { data: detail } = await api.books.getBook(book.bookId, { memoAuthority: 'ALL' })
  const { data: library } = await api.books.listLibrary({ page: 1, size: 10, bookStatus: BookStatus.ING })
  const { error } = await api.books
    .getBook(999, { memoAuthority: 'ALL' })
    .catch((response: HttpResponse<unknown, ErrorResponse>) => response)
  return { joined: joined.data, book, image, memo, detail, library, error }
}
