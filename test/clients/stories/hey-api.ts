// hey-api generates a function for each operation, all of which share one configured client.
import { client } from '../.build/hey-api/client.gen.ts'
import * as api from '../.build/hey-api/sdk.gen.ts'
import type { Change, Memo } from '../.build/hey-api/types.gen.ts'
import { pictureFile } from './picture.ts'

/** Everything that has changed since the cursor, or everything, and the next cursor. */
const pull = async (cursor?: string) => {
  const changes: Change[] = []
  for (;;) {
    const { data } = await api.listChanges({ query: { cursor, size: 1 } })
    if (!data) throw new Error('No changes')
    changes.push(...data.item)
    cursor = data.next
    if (!data.hasMore) return { changes, cursor }
  }
}

/** Signs up, logs in, registers a book, writes a memo with an image, and returns what it read. Then syncs, twice. */
export const tellStory = async (baseUrl: string, email: string) => {
  const member = { email, password: 'read-more-1' }
  client.setConfig({ baseUrl, headers: { Authorization: null } })
  const joined = await api.signUp({ body: { ...member, name: 'Reader', authenticationCode: '000000' } })
  const login = await api.logIn({ body: member })
  client.setConfig({ headers: { Authorization: login.response?.headers.get('Authorization') } })

  const { data: book } = await api.registerBook({ body: { title: 'Demian', bookStatus: 'ING' } })
  if (!book) throw new Error('No book')

  const { data: image } = await api.uploadMemoImage({ body: { file: pictureFile } })
  const written = await api.createMemo({
    query: { bookId: book.bookId },
    body: { memoBookPage: 95, memoContent: `<img src="${image}">`, memoType: 'THOUGHT' },
  })
  const memo: Memo | undefined = written.data

  const getBook = (bookId: number) => api.getBook({ path: { 'book-id': bookId }, query: { memoAuthority: 'ALL' } })
  const { data: detail } = await getBook(book.bookId)
  const { error } = await getBook(999)
  const { data: library } = await api.listLibrary({ query: { page: 1, size: 10, bookStatus: 'ING' } })

  const { changes, cursor } = await pull()
  await api.deleteMemo({ path: { 'memo-id': written.data?.memoId ?? 0 } })
  await api.updateBook({ path: { 'book-id': book.bookId }, body: { author: 'Hermann Hesse' } })
  const later = await pull(cursor)
  // Narrowed by `kind`.
  const titles = changes.flatMap((change) => (change.kind === 'book' && change.value ? [change.value.title] : []))
  const synced = { titles, first: changes, later: later.changes }
  return { joined: joined.data, book, image, memo, detail, library, error, synced }
}
