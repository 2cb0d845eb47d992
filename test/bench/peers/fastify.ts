// The endpoints on Fastify in its usual style: @fastify/jwt, JSON schemas for requests and responses.
import jwt from '@fastify/jwt'
import fastify, { type FastifyReply } from 'fastify'
import * as store from './store.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: store.Fields
  }
}

const text = { type: 'string' }
const optional = { type: ['string', 'null'] }
const int = { type: 'integer', minimum: 0, maximum: 2_147_483_647 }
const optionalInt = { type: ['integer', 'null'], minimum: 0, maximum: 2_147_483_647 }
const bookStatus = { enum: ['YET', 'ING', 'DONE'] }
const types = ['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION']
const authorities = ['PRIVATE', 'PUBLIC']
const paging = { page: { type: 'integer', minimum: 1 }, size: { type: 'integer', minimum: 1, maximum: 1000 } }
const object = (properties: object, required = Object.keys(properties)) => ({ type: 'object', properties, required })

const memoState = { memoAuthority: text, memoLikesCount: int, createdAt: text, updatedAt: text }
const memo = object({ memoId: int, memoType: text, memoContent: text, memoBookPage: int, ...memoState })
const listed = { bookId: int, title: text, cover: optional, author: optional }
const progress = { createdAt: text, star: int, currentPage: int, itemPage: optionalInt, bookStatus: text }
const pageInfo = object({ page: int, size: int, totalElements: int, totalPages: int })
const pageOf = (item: object) => ({ 200: object({ item: { type: 'array', items: item }, pageInfo }) })
const read = { readStartDate: optional, readEndDate: optional, memoCount: int }
const memosList = { type: 'array', items: memo }
const detail = object({ ...listed, publisher: optional, ...progress, ...read, memosList })
const drawn = object({ memoId: int, memoContent: text, memoType: text, memoBookPage: int })
const registered = object({ bookId: int, title: text, author: optional, cover: optional, bookStatus: text })
const name = { type: ['string', 'null'], maxLength: 500 }
const newBook = object(
  {
    title: { type: 'string', minLength: 1, maxLength: 500 },
    author: name,
    publisher: name,
    cover: { type: ['string', 'null'], format: 'uri', maxLength: 2048 },
    itemPage: optionalInt,
    currentPage: { ...int, default: 0 },
    bookStatus: { ...bookStatus, default: 'YET' },
  },
  ['title'],
)
const newMemo = object(
  {
    memoBookPage: int,
    memoContent: { type: 'string', minLength: 1, maxLength: 65_535 },
    memoType: { enum: types, default: 'BOOK_CONTENT' },
    memoAuthority: { enum: authorities, default: 'PRIVATE' },
  },
  ['memoBookPage', 'memoContent'],
)

const path = object({ bookId: { type: 'integer', minimum: 1 } })
const schemas = {
  library: {
    querystring: object({ ...paging, bookStatus }),
    response: pageOf(object({ ...listed, ...progress, memoCount: int })),
  },
  detail: {
    params: path,
    querystring: object({ memoAuthority: { enum: ['ALL', ...authorities] } }),
    response: { 200: detail },
  },
  memos: {
    params: path,
    querystring: object({ ...paging, memoType: { enum: ['ALL', ...types] } }),
    response: pageOf(memo),
  },
  random: { response: { 200: { type: 'array', items: drawn } } },
  newBook: { body: newBook, response: { 201: registered } },
  newMemo: { querystring: path, body: newMemo, response: { 201: memo } },
}

const app = fastify()
await app.register(jwt, { secret: process.env.JWT_SECRET ?? '', verify: { algorithms: ['HS256'] } })
app.decorateRequest('caller')
app.addHook('onRequest', async (request, reply) => {
  const caller = await request.jwtVerify<store.Claims>().then(store.findCaller, () => undefined)
  if (!caller) return reply.code(401).send({ status: 401, message: 'A valid token is required' })
  request.caller = caller
})
const answer = (reply: FastifyReply, found: unknown) =>
  found ? reply.send(found) : reply.code(404).send({ status: 404, message: 'Not found' })

type OfBook = { Params: { bookId: number } }

app.get<{ Querystring: store.Paging & { bookStatus: string } }>(
  '/books/library',
  { schema: schemas.library },
  ({ caller, query }, reply) => answer(reply, store.listLibrary(caller, query)),
)
app.get<OfBook>('/books/:bookId', { schema: schemas.detail }, ({ caller, params }, reply) =>
  answer(reply, store.getBook(caller, params.bookId)),
)
app.get<OfBook & { Querystring: store.Paging }>(
  '/books/:bookId/memos',
  { schema: schemas.memos },
  ({ caller, params, query }, reply) => answer(reply, store.listMemos(caller, params.bookId, query)),
)
app.post<{ Body: store.Fields }>('/books', { schema: schemas.newBook }, ({ caller, body }, reply) =>
  answer(reply.code(201), store.createBook(caller, body)),
)
app.get('/memos/random', { schema: schemas.random }, ({ caller }, reply) => reply.send(store.drawMemo(caller)))
app.post<{ Querystring: { bookId: number }; Body: store.Fields }>(
  '/memos',
  { schema: schemas.newMemo },
  ({ caller, query, body }, reply) => answer(reply.code(201), store.createMemo(caller, query.bookId, body)),
)

const address = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(new URL(address).port)
