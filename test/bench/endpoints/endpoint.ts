// An endpoint as the benchmarks request it.
import type { HttpRequest } from '../../support/service/http-client.ts'
import type { Library } from './seed.ts'

export type Endpoint = {
  name: string
  status: number
  /** The nth request. */
  toRequest: (library: Library, n: number) => HttpRequest
  /** The part of the body that is the same in every response. */
  common: (body: string) => string
  /** Whether the baseline and the peers implement it. */
  compared?: true
  /** Its requests must be sent in order, so they cannot be timed while others run. */
  untimed?: true
  /** Requested a tenth as often. */
  slow?: true
  /** Why its rows may grow with the library. */
  grows?: string
  /** The most rows that it may read in any library, if they grow up to a ceiling. */
  ceiling?: number
}

export const whole = (body: string) => body
export const withoutNumbers = (body: string) => body.replace(/-?\d+(?:\.\d+)?/g, '0')
export const start = (text: string) => (body: string) => body.slice(0, text.length)

export type ToPath = (library: Library, n: number) => string

export const get = (name: string, toPath: ToPath, more: Partial<Endpoint> = {}): Endpoint => ({
  name,
  status: 200,
  common: whole,
  toRequest: (library, n) => ({ method: 'GET', path: toPath(library, n), token: library.token }),
  ...more,
})

type ToBody = (n: number) => object

export const write = (name: string, method: 'POST' | 'PUT' | 'PATCH', toPath: ToPath, toBody: ToBody): Endpoint => ({
  name,
  status: method === 'POST' ? 201 : 200,
  common: withoutNumbers,
  toRequest: (library, n) => ({
    method,
    path: toPath(library, n),
    token: library.token,
    body: JSON.stringify(toBody(n)),
  }),
})

/** Deletes another book or memo with each request. */
export const remove = (name: string, path: string, idsOf: (library: Library) => number[]): Endpoint => ({
  name,
  status: 204,
  slow: true,
  common: () => '',
  toRequest: (library) => {
    const id = idsOf(library).shift()
    if (id === undefined) throw new Error('The library has nothing left to delete: use fewer rounds')
    return { method: 'DELETE', path: `${path}/${id}`, token: library.token }
  },
})
