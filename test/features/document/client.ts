// In an app, both come from 'reading-library', which `npm run client` packs.
import { hc } from 'hono/client'
import type { Api } from 'reading-library'

const url = 'http://localhost:8787'
const member = { email: 'typed@example.com', password: 'read-more-1' }
await hc<Api>(url).join.$post({ json: { ...member, name: 'Typed', authenticationCode: '000000' } })
const login = await hc<Api>(url).login.$post({ json: member })

const api = hc<Api>(url, { headers: { Authorization: login.headers.get('Authorization') ?? '' } })
const { bookId } = await (await api.books.$post({ json: { title: 'Demian', bookStatus: 'ING' } })).json()
await api.memos.$post({ query: { bookId: `${bookId}` }, json: { memoBookPage: 95, memoContent: 'Once more.' } })
const book = await api.books[':book-id'].$get({ param: { 'book-id': `${bookId}` }, query: { memoAuthority: 'ALL' } })
for (const memo of (await book.json()).memosList) console.log(memo.memoType, memo.memoContent)
