// Uses the API through types generated from the served document.
import createClient from 'openapi-fetch'
import type { components, paths } from './.build/api.ts'

type Memo = components['schemas']['Memo']

const member = { email: 'generated@example.com', password: 'read-more-1' }

// A GIF of one pixel.
const PICTURE = 'R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='

/** Signs up, logs in, registers a book, writes a memo with an image, and returns what it read. */
export const tellStory = async (baseUrl: string) => {
  const api = createClient<paths>({ baseUrl })
  const joined = await api.POST('/join', { body: { ...member, name: 'Reader', authenticationCode: '000000' } })
  const login = await api.POST('/login', { body: member })
  const headers = { Authorization: login.response.headers.get('Authorization') ?? '' }

  const { data: book } = await api.POST('/books', { headers, body: { title: 'Demian', bookStatus: 'ING' } })
  if (!book) throw new Error('No book')

  const form = new FormData()
  form.append('file', new Blob([Uint8Array.from(atob(PICTURE), (char) => char.charCodeAt(0))]), 'page.gif')
  const picture = { body: { file: '' }, bodySerializer: () => form }
  const { data: image } = await api.POST('/memos/image-memo', { headers, ...picture })

  const memo = await api.POST('/memos', {
    headers,
    params: { query: { bookId: book.bookId } },
    body: { memoBookPage: 95, memoContent: `<img src="${image}">`, memoType: 'THOUGHT' },
  })
  const written: Memo | undefined = memo.data

  const getBook = (bookId: number) =>
    api.GET('/books/{book-id}', { headers, params: { path: { 'book-id': bookId }, query: { memoAuthority: 'ALL' } } })
  const { data: detail } = await getBook(book.bookId)
  const { error } = await getBook(999)
  const { data: library } = await api.GET('/books/library', {
    headers,
    params: { query: { page: 1, size: 10, bookStatus: 'ING' } },
  })
  return { joined: joined.data, image, written, detail, library, error }
}
