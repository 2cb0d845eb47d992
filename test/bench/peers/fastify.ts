// The endpoints on Fastify in its usual style: @fastify/jwt, JSON schemas for requests and responses.
import jwt from '@fastify/jwt'
import fastify, { type FastifyReply } from 'fastify'
import {
  type Claims,
  createBook,
  createMemo,
  drawMemo,
  findCaller,
  getBook,
  listLibrary,
  listMemos,
  type NewBook,
  type NewMemo,
} from './store.ts'

type Member = Record<string, unknown>
declare module 'fastify' {
  interface FastifyRequest {
    caller: Member | null
  }
}

const text = { type: 'string' }
const optional = { type: ['string', 'null'] }
const int = { type: 'integer', minimum: 0, maximum: 2_147_483_647 }
const optionalInt = { type: ['integer', 'null'], minimum: 0, maximum: 2_147_483_647 }
const id = { type: 'integer', minimum: 1 }
const bookStatus = { enum: ['YET', 'ING', 'DONE'] }
const types = ['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION']
const authorities = ['PRIVATE', 'PUBLIC']
const paging = { page: { type: 'integer', minimum: 1 }, size: { type: 'integer', minimum: 1, maximum: 1000 } }
const object = (properties: object, required = Object.keys(properties)) => ({ type: 'object', properties, required })

const memo = object({
  memoId: int,
  memoType: text,
  memoContent: text,
  memoBookPage: int,
  memoAuthority: text,
  memoLikesCount: int,
  createdAt: text,
  updatedAt: text,
})
const listed = { bookId: int, title: text, cover: optional, author: optional }
const progress = { createdAt: text, star: int, currentPage: int, itemPage: optionalInt, bookStatus: text }
const pageInfo = object({ page: int, size: int, totalElements: int, totalPages: int })
const pageOf = (item: object) => ({ 200: object({ item: { type: 'array', items: item }, pageInfo }) })
const detail = object({
  ...listed,
  publisher: optional,
  ...progress,
  readStartDate: optional,
  readEndDate: optional,
  memoCount: int,
  memosList: { type: 'array', items: memo },
})
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

const app = fastify()
await app.register(jwt, { secret: process.env.JWT_SECRET ?? '', verify: { algorithms: ['HS256'] } })
app.decorateRequest('caller', null)
app.addHook('onRequest', async (request, reply) => {
  const caller = await request.jwtVerify<Claims>().then(findCaller, () => undefined)
  if (!caller) return reply.code(401).send({ status: 401, message: 'A valid access token is required' })
  request.caller = caller
})
const answer = (reply: FastifyReply, found: unknown) =>
  found ? reply.send(found) : reply.code(404).send({ status: 404, message: 'Not found' })

type Of<Querystring, Body = unknown> = { Querystring: Querystring; Body: Body; Params: { bookId: number } }
type Page = { page: number; size: number }
const path = object({ bookId: id })

app.get<Of<Page & { bookStatus: string }>>(
  '/books/library',
  {
    schema: {
      querystring: object({ ...paging, bookStatus }),
      response: pageOf(object({ ...listed, ...progress, memoCount: int })),
    },
  },
  ({ caller, query }, reply) => answer(reply, listLibrary(caller as Member, query)),
)
app.get<Of<unknown>>(
  '/books/:bookId',
  {
    schema: {
      params: path,
      querystring: object({ memoAuthority: { enum: ['ALL', ...authorities] } }),
      response: { 200: detail },
    },
  },
  ({ caller, params }, reply) => answer(reply, getBook(caller as Member, params.bookId)),
)
app.get<Of<Page>>(
  '/books/:bookId/memos',
  {
    schema: {
      params: path,
      querystring: object({ ...paging, memoType: { enum: ['ALL', ...types] } }),
      response: pageOf(memo),
    },
  },
  ({ caller, params, query }, reply) => answer(reply, listMemos(caller as Member, params.bookId, query)),
)
app.post<Of<unknown, NewBook>>(
  '/books',
  { schema: { body: newBook, response: { 201: registered } } },
  ({ caller, body }, reply) => answer(reply.code(201), createBook(caller as Member, body)),
)
app.get('/memos/random', { schema: { response: { 200: { type: 'array', items: drawn } } } }, ({ caller }, reply) =>
  reply.send(drawMemo(caller as Member)),
)
app.post<Of<{ bookId: number }, NewMemo>>(
  '/memos',
  { schema: { querystring: object({ bookId: id }), body: newMemo, response: { 201: memo } } },
  ({ caller, query, body }, reply) => answer(reply.code(201), createMemo(caller as Member, query.bookId, body)),
)

await app.listen({ port: 0, host: '127.0.0.1' })
const address = app.server.address()
console.log(typeof address === 'object' ? address?.port : address)
