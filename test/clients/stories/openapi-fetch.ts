// openapi-typescript generates types only. openapi-fetch returns the body, the error and the response.
import createClient from 'openapi-fetch'
import type { components, paths } from '../.build/openapi-typescript/api.ts'
import { pictureFile } from './picture.ts'

type Memo = components['schemas']['Memo']

/** Signs up, logs in, registers a book, writes a memo with an image, and returns what it read. */
export const tellStory = async (baseUrl: string, email: string) => {
  const api = createClient<paths>({ baseUrl })
  const member = { email, password: 'read-more-1' }
  const joined = await api.POST('/join', { body: { ...member, name: 'Reader', authenticationCode: '000000' } })
  const login = await api.POST('/login', { body: member })
  const headers = { Authorization: login.response.headers.get('Authorization') }

  const { data: book } = await api.POST('/books', { headers, body: { title: 'Demian', bookStatus: 'ING' } })
  if (!book) throw new Error('No book')

  const form = new FormData()
  form.append('file', pictureFile)
  const upload = { body: { file: '' }, bodySerializer: () => form }
  const { data: image } = await api.POST('/memos/image-memo', { headers, ...upload })

  const written = await api.POST('/memos', {
    headers,
    params: { query: { bookId: book.bookId } },
    body: { memoBookPage: 95, memoContent: `<img src="${image}">`, memoType: 'THOUGHT' },
  })
  const memo: Memo | undefined = written.data

  const getBook = (bookId: number) =>
    api.GET('/books/{book-id}', { headers, params: { path: { 'book-id': bookId }, query: { memoAuthority: 'ALL' } } })
  const { data: detail } = await getBook(book.bookId)
  const { error } = await getBook(999)
  const { data: library } = await api.GET('/books/library', {
    headers,
    params: { query: { page: 1, size: 10, bookStatus: 'ING' } },
  })
  return { joined: joined.data, book, image, memo, detail, library, error }
}
