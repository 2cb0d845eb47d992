import { exports } from 'cloudflare:workers'
import { hc } from 'hono/client'
import type { ExtractSchema } from 'hono/types'
import { expect, expectTypeOf, it, vi } from 'vitest'
import type document from '../../docs/openapi.json'
import readme from '../../README.md?raw'
import type { Api } from '../../src/app'
import { BASE, signUp } from '../support/api'
import { png } from '../support/pictures'
import client from './client.ts?raw'

type Schema = ExtractSchema<Api>

/** Whether a type says nothing of a value, at any depth. */
type IsVague<T> = unknown extends T ? true : T extends object ? { [K in keyof T]: IsVague<T[K]> }[keyof T] : false
type VagueEndpoints = {
  [Path in keyof Schema]: {
    [Method in keyof Schema[Path]]: true extends IsVague<Schema[Path][Method]> ? Path : never
  }[keyof Schema[Path]]
}[keyof Schema]

/** A path of the document as the routes have it. */
type Route<Path> = Path extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}:${Name}${Route<After>}`
  : Path

it('the typed client knows every path of the document, and what each takes and answers', () => {
  expectTypeOf<keyof Schema>().toEqualTypeOf<Route<keyof typeof document.paths>>()
  expectTypeOf<VagueEndpoints>().toEqualTypeOf<never>()
  expectTypeOf<Schema['/memos']['$post']['input']['json']['memoType']>().toEqualTypeOf<
    'BOOK_CONTENT' | 'SUMMARY' | 'THOUGHT' | 'QUESTION' | '' | null | undefined
  >()
  expectTypeOf<Schema['/books/created-date/:book-id']['$patch']['input']['json']>().toEqualTypeOf<string>()
  expectTypeOf<Schema['/books/library']['$get']['input']['query']>().toEqualTypeOf<{
    page: string
    size: string
    bookStatus: 'YET' | 'ING' | 'DONE'
  }>()
  expectTypeOf<Schema['/books']['$post']['status']>().toEqualTypeOf<201>()
})

it('the typed client sends a bare date and a file as the service takes them', async () => {
  const reader = await signUp()
  const { bookId } = await reader.registers()
  const fetch = (url: RequestInfo | URL, init?: RequestInit) => exports.default.fetch(new Request(url, init))
  const api = hc<Api>(BASE, { headers: { Authorization: `Bearer ${reader.token}` }, fetch })
  const dated = await api.books['created-date'][':book-id'].$patch({
    param: { 'book-id': `${bookId}` },
    json: '2020-02-29T08:00:00',
  })
  expect(await dated.json()).toEqual({ bookId, createdAt: '2020-02-29T08:00:00' })
  const file = new File([png()], 'page.png')
  const uploaded = await api.memos['image-memo'].$post({ form: { file } })
  expect(uploaded.status).toBe(201)
})

it('the client that the README shows signs up, logs in, registers, writes and reads', async () => {
  expect(readme).toContain(client)
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => exports.default.fetch(new Request(url, init)))
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('./client')
  expect(log.mock.calls).toEqual([['BOOK_CONTENT', 'Once more.']])
  log.mockRestore()
  vi.unstubAllGlobals()
})
