import { exports } from 'cloudflare:workers'
import { hc } from 'hono/client'
import type { ExtractSchema } from 'hono/types'
import { expect, expectTypeOf, it, vi } from 'vitest'
import type document from '../../../docs/openapi.json'
import type { Api } from '../../../src/app'
import { BASE, signUp } from '../../support/api'
import { png } from '../../support/images/pictures'

type Schema = ExtractSchema<Api>

/** Whether a type contains `unknown` or `any`, at any depth. */
type IsVague<T> = unknown extends T ? true : T extends object ? { [K in keyof T]: IsVague<T[K]> }[keyof T] : false
type VagueEndpoints = {
  [Path in keyof Schema]: {
    [Method in keyof Schema[Path]]: true extends IsVague<Schema[Path][Method]> ? Path : never
  }[keyof Schema[Path]]
}[keyof Schema]

it('the typed client knows the inputs and responses of every path', () => {
  expectTypeOf<VagueEndpoints>().toEqualTypeOf<never>()
  expectTypeOf<Schema['/memos']['$post']['input']['json']['memoType']>().toEqualTypeOf<
    'BOOK_CONTENT' | 'SUMMARY' | 'THOUGHT' | 'QUESTION' | undefined
  >()
  expectTypeOf<Schema['/books/created-date/:book-id']['$patch']['input']['json']>().toEqualTypeOf<string>()
  expectTypeOf<Schema['/books/library']['$get']['input']['query']>().toEqualTypeOf<{
    page: string
    size: string
    bookStatus: 'YET' | 'ING' | 'DONE'
  }>()
  expectTypeOf<Schema['/books']['$post']['status']>().toEqualTypeOf<201>()
})

/** A path of the document as the routes write it. */
type Route<Path> = Path extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}:${Name}${Route<After>}`
  : Path
type Documented = Route<keyof typeof document.paths>
type Difference<Paths, Others, Message> = Record<Exclude<Paths, Others> & string, Message>

it('the typed client knows every path of the document', () => {
  // The compiler names a path that is missing, and what to do.
  const undocumented: Difference<keyof Schema, Documented, 'is not in docs/openapi.json: run `npm run openapi`'> = {}
  const unknown: Difference<Documented, keyof Schema, 'is only in docs/openapi.json: run `npm run openapi`'> = {}
  expect([undocumented, unknown]).toEqual([{}, {}])
})

it('the typed client sends a bare date and a file', async () => {
  const reader = await signUp()
  const { bookId } = await reader.createBook()
  const fetch = (url: RequestInfo | URL, init?: RequestInit) => exports.default.fetch(new Request(url, init))
  const api = hc<Api>(BASE, { headers: { Authorization: `Bearer ${reader.token}` }, fetch })
  const param = { 'book-id': `${bookId}` }
  const dated = await api.books['created-date'][':book-id'].$patch({ param, json: '2020-02-29T08:00:00' })
  expect(await dated.json()).toEqual({ bookId, createdAt: '2020-02-29T08:00:00' })
  const file = new File([png()], 'page.png')
  const uploaded = await api.memos['image-memo'].$post({ form: { file } })
  expect(uploaded.status).toBe(201)
})

it('the example of a typed client signs up, logs in, registers a book, writes a memo and reads it', async () => {
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => exports.default.fetch(new Request(url, init)))
  using log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('./client')
  expect(log.mock.calls).toEqual([['BOOK_CONTENT', 'Once more.']])
  vi.unstubAllGlobals()
})
