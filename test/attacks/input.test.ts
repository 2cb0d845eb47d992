import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { BASE, type Reader, send, signUp } from '../support/api'
import { fuzzRequests } from '../support/fuzz-requests'
import { isPage } from '../support/operations'
import { randomized } from '../support/randomized'
import { takeSnapshot } from '../support/snapshot'

let reader: Reader
let ids: Record<string, string[]>
beforeAll(async () => {
  reader = await signUp()
  const other = await signUp()
  const { bookId } = await other.createBook()
  const { memoId } = await other.createMemo(bookId)
  const own = await reader.createBook()
  const books = [String(own.bookId), String(bookId)]
  ids = { 'book-id': books, bookId: books, 'memo-id': [String(memoId), '999999'] }
})

const unlimited = { limit: async () => ({ success: true }) } as RateLimit
const changed = { MEMBER_LIMIT: unlimited, NETWORK_LIMIT: unlimited }

/** Whether the `Request` constructor accepts it. A socket takes more, as `npm run attack -- input` does. */
const isSendable = (path: string, headers: [string, string][]) =>
  URL.canParse(BASE + path) &&
  new URL(BASE + path).origin === BASE &&
  !isPage(new URL(BASE + path).pathname) &&
  headers.every(([, value]) => /^[ -~]*$/.test(value))

describe('bad input', () => {
  it(
    'is answered as the document describes, and changes nothing if it is refused',
    randomized(async (seed) => {
      const requests = fuzzRequests(ids, 500, seed).filter(
        // A preflight is not an operation, and a withdrawal would invalidate the token.
        ({ method, path, headers }) =>
          method !== 'OPTIONS' && !path.startsWith('/members') && isSendable(path, headers),
      )
      expect(requests.length).toBeGreaterThan(350)
      for (const { method, path, headers, type, body, hasToken } of requests) {
        const all = new Headers(headers)
        if (type !== undefined) all.set('Content-Type', type)
        if (hasToken && !all.has('Authorization')) all.set('Authorization', `Bearer ${reader.token}`)
        const raw = method === 'GET' || method === 'HEAD' ? undefined : body
        const before = await takeSnapshot(env.DB)
        const { status } = await send(method, path, { raw, headers: Object.fromEntries(all), changed })
        expect(status, `${method} ${path}`).toBeLessThan(500)
        if (status >= 400) expect(await takeSnapshot(env.DB), `${method} ${path}`).toBe(before)
      }
    }),
  )
})
