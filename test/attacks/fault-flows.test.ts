import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { send } from '../support/api'
import { toFileForm } from '../support/file-form'
import { wrapDatabase } from '../support/wrap-database'
import { FLOWS, type Stage } from './faults/flows'
import { injectFault } from './faults/inject'
import { listFaults, nameOf, recordReference, tryFault } from './faults/trial'

beforeAll(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})
afterAll(() => {
  vi.restoreAllMocks()
})

const stage: Stage = {
  request: async ({ method, path, token, body, file }, fault) => {
    const { env: faulty, report } = injectFault(env, fault)
    const form = file && toFileForm(file)
    const headers = {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(form && { 'Content-Type': form.type }),
    }
    const changed = { ...faulty, EMAIL_VERIFICATION: 'required' }
    const answer = await send(method, path, { headers, changed, ...(form ? { raw: form.body } : { body }) })
    const reported = new Headers([...answer.headers, ...report(new Response()).headers])
    return { ...answer, headers: reported }
  },
  secret: env.JWT_SECRET ?? '',
  database: env.DB,
  bucket: env.IMAGES,
  lists: env.CATALOGUE,
}

describe.concurrent('a failing binding', () => {
  const never = () => new Promise<never>(() => {})

  it('times out with 503 when the database never answers', async () => {
    const DB = wrapDatabase(env.DB, never)
    expect((await send('GET', '/health', { changed: { DB } })).status).toBe(503)
  })

  it('allows the request when a rate limiter never answers', async () => {
    const NETWORK_LIMIT = { limit: never } as RateLimit
    expect((await send('POST', '/login', { body: {}, changed: { NETWORK_LIMIT } })).status).toBe(400)
  })

  it('treats a cache of lists that never answers as a miss', async () => {
    const CATALOGUE = { get: never, put: never } as unknown as KVNamespace
    expect((await send('GET', '/ext-lib/best-seller', { changed: { CATALOGUE } })).status).toBe(200)
  })

  // `npm run attack -- faults` tries the other kinds of fault.
  it.each(FLOWS)(
    '$name: fails cleanly or succeeds when a call throws afterwards or a binding is down',
    async (flow) => {
      const reference = await recordReference(stage, flow)
      const faults = listFaults(reference).filter(({ kind }) => kind === 'throws afterwards' || kind === 'is down')
      expect(faults.length).toBeGreaterThan(0)
      for (const fault of faults) {
        const { problems } = await tryFault(stage, reference, fault)
        expect(problems, nameOf(reference, fault)).toEqual([])
      }
    },
  )
})
