import { exports } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { BASE } from '../../support/api'

const request = (method: string, path: string, headers?: Record<string, string>) =>
  exports.default.fetch(BASE + path, { method, headers, redirect: 'manual' })

describe('/', () => {
  it.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', '/docs'],
    ['*/*', '/openapi.json'],
    ['application/json', '/openapi.json'],
  ])('redirects Accept: %s to %s', async (Accept, address) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await request(method, '/', { Accept })
      expect([answer.status, answer.headers.get('Location')]).toEqual([302, address])
      expect(answer.headers.get('Vary')).toBe('Origin, Accept')
    }
  })
})

type Schema = { $ref?: string; properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[]; oneOf?: Schema[] }
type Operation = { operationId: string; responses: Record<string, { content?: Record<string, { schema?: Schema }> }> }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

describe('/docs', () => {
  it('shows every field of every response, below its operation, and never leaves a type open', async () => {
    const page = await (await request('GET', '/docs')).text()
    const document = await (await request('GET', '/openapi.json')).json<Document>()
    const fieldsOf = (schema: Schema, within: string[] = []): string[] => {
      const { $ref, properties = {}, items, anyOf = [], oneOf = [] } = schema
      if ($ref && within.includes($ref)) return []
      const outer = $ref ? [...within, $ref] : within
      const target = $ref ? [document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}] : []
      const parts = [...target, ...Object.values(properties), ...(items ? [items] : []), ...anyOf, ...oneOf]
      return [...Object.keys(properties), ...parts.flatMap((each) => fieldsOf(each, outer))]
    }
    let count = 0
    for (const { operationId, responses } of Object.values(document.paths).flatMap((item) => Object.values(item))) {
      const [, article = ''] = page.split(`<article id="${operationId}"`)
      const [shown = ''] = article.split('</article>')
      expect(shown, operationId).not.toContain('</code>: any')
      const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'))
      const schemas = successes.flatMap(([, { content = {} }]) =>
        Object.values(content).flatMap(({ schema }) => schema ?? []),
      )
      const fields = [...new Set(schemas.flatMap((schema) => fieldsOf(schema)))]
      count += fields.length
      expect(
        fields.filter((name) => !shown.includes(`<p class="field"><code>${name}</code>`)),
        operationId,
      ).toEqual([])
    }
    expect(count).toBeGreaterThan(400)
  })

  it('has at most 120 KB, compressed', async () => {
    const { body } = await request('GET', '/docs')
    const compressed = await new Response(body?.pipeThrough(new CompressionStream('gzip'))).arrayBuffer()
    expect(compressed.byteLength).toBeLessThan(120_000)
  })

  it('is a page that loads its own files only and cannot be framed', async () => {
    const answer = await request('GET', '/docs')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    const page = await answer.text()
    const files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? '')
    expect(files.length).toBeGreaterThan(4)
    for (const path of files) {
      const file = await request('GET', path)
      const part = await request('GET', path, { Range: 'bytes=0-9' })
      expect([file.status, part.status], path).toEqual([200, 200])
      expect((await part.arrayBuffer()).byteLength, path).toBe((await file.arrayBuffer()).byteLength)
      const again = await request('GET', path, { 'If-None-Match': file.headers.get('ETag') ?? '' })
      expect([again.status, await again.text()], path).toEqual([304, ''])
    }
  })

  it('has no other files, and errors of the usual shape', async () => {
    for (const path of [
      '/docs/nothing.js',
      '/docs/..%2fopenapi.json',
      '/common-passwords.bin',
      '/docs/common-passwords.bin',
      '/docs/..%2fcommon-passwords.bin',
      '/docs/page.ts',
      '/docs/',
    ]) {
      const answer = await request('GET', path)
      expect([answer.status, await answer.json()], path).toMatchObject([404, { status: 404, fieldErrors: null }])
    }
    for (const path of ['/', '/docs', '/docs/page.js', '/openapi.json', '/.well-known/api-catalog']) {
      const answer = await request('POST', path)
      expect([answer.status, await answer.json()], path).toMatchObject([405, { status: 405, violationErrors: null }])
      expect(answer.headers.get('Allow')).toBe('GET, HEAD')
    }
  })
})

describe('/.well-known/api-catalog', () => {
  it('links to the document, the reference and the health check', async () => {
    const answer = await request('GET', '/.well-known/api-catalog')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      'cache-control': 'public, max-age=3600',
      link: '</.well-known/api-catalog>; rel="api-catalog"',
    })
    const { linkset } = await answer.json<{ linkset: Record<string, { href: string; type: string }[]>[] }>()
    const [{ anchor, ...links } = {}] = linkset
    const paths = Object.entries(links).map(([relation, [link]]) => [
      relation,
      new URL(link?.href ?? '', BASE).pathname,
    ])
    expect(Object.fromEntries(paths)).toEqual({
      'service-desc': '/openapi.json',
      'service-doc': '/docs',
      status: '/health',
    })
    expect(new URL(String(anchor), BASE).pathname).toBe('/')
    for (const [{ href, type } = { href: '', type: '' }] of Object.values(links)) {
      const linked = await request('GET', new URL(href, BASE).pathname)
      expect([linked.status, linked.headers.get('Content-Type')]).toEqual([200, expect.stringContaining(type)])
    }
  })

  it('answers HEAD with the same headers and no body', async () => {
    const answer = await request('HEAD', '/.well-known/api-catalog')
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(answer.headers.get('Link')).toBe('</.well-known/api-catalog>; rel="api-catalog"')
  })
})
