// The endpoints on Express in its usual style: jsonwebtoken, zod, better-sqlite3.
import type { AddressInfo } from 'node:net'
import express, { type NextFunction, type Request, type Response } from 'express'
import jwt from 'jsonwebtoken'
import * as z from 'zod'
import * as store from './store.ts'

const secret = process.env.JWT_SECRET ?? ''
const BookStatus = z.enum(['YET', 'ING', 'DONE'])
const MemoType = z.enum(['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION'])
const Authority = z.enum(['PRIVATE', 'PUBLIC'])
const Paging = z.object({ page: z.coerce.number().int().min(1), size: z.coerce.number().int().min(1).max(1000) })
const LibraryQuery = Paging.extend({ bookStatus: BookStatus })
const DetailQuery = z.object({ memoAuthority: z.union([z.literal('ALL'), Authority]) })
const MemosQuery = Paging.extend({ memoType: z.union([z.literal('ALL'), MemoType]) })
const Id = z.coerce.number().int().positive()
const Int = z.number().int().min(0).max(2_147_483_647)
const Person = z.string().max(500).nullish()
const NewBook = z.object({
  title: z.string().trim().min(1).max(500),
  author: Person,
  publisher: Person,
  cover: z.url().max(2048).nullish(),
  itemPage: Int.nullish(),
  currentPage: Int.default(0),
  bookStatus: BookStatus.default('YET'),
})
const NewMemo = z.object({
  memoBookPage: Int,
  memoContent: z.string().min(1).max(65_535),
  memoType: MemoType.default('BOOK_CONTENT'),
  memoAuthority: Authority.default('PRIVATE'),
})

const authenticate = (request: Request, response: Response, next: NextFunction) => {
  const token = request.headers.authorization?.split(' ')[1] ?? ''
  try {
    response.locals.caller = store.findCaller(
      jwt.verify(token, secret, { algorithms: ['HS256'] }) as unknown as store.Claims,
    )
  } catch {}
  if (response.locals.caller) return next()
  response.status(401).json({ status: 401, message: 'A valid token is required' })
}
const answer = (response: Response, found: unknown) => {
  if (found) response.json(found)
  else response.status(404).json({ status: 404, message: 'Not found' })
}

const app = express()
app.disable('x-powered-by')
app.use(express.json())
app.use(authenticate)

app.get('/books/library', ({ query }, response) =>
  answer(response, store.listLibrary(response.locals.caller, LibraryQuery.parse(query))),
)
app.get('/books/:bookId', ({ params, query }, response) => {
  DetailQuery.parse(query)
  answer(response, store.getBook(response.locals.caller, Id.parse(params.bookId)))
})
app.get('/books/:bookId/memos', ({ params, query }, response) =>
  answer(response, store.listMemos(response.locals.caller, Id.parse(params.bookId), MemosQuery.parse(query))),
)
app.post('/books', ({ body }, response) =>
  answer(response.status(201), store.createBook(response.locals.caller, NewBook.parse(body))),
)
app.get('/memos/random', (_, response) => answer(response, store.drawMemo(response.locals.caller)))
app.post('/memos', ({ query, body }, response) => {
  const memo = store.createMemo(response.locals.caller, Id.parse(query.bookId), NewMemo.parse(body))
  answer(response.status(201), memo)
})
app.use((error: Error, _: Request, response: Response, __: NextFunction) => {
  response.status(error instanceof z.ZodError ? 400 : 500).json({ status: 0, message: error.message })
})

const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
