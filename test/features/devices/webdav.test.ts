import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Import } from '../../../src/transfer/imports/responses'
import { type Reader, signUp } from '../../support/api'
import { addRawDevice } from '../../support/devices/raw-device'
import { RECORDED } from '../../support/devices/recorded'
import { eventually } from '../../support/runtime/clock'
import { booksOf } from '../../support/transfer/imports'

type Device = Awaited<ReturnType<typeof addRawDevice>>

let reader: Reader
let device: Device
beforeAll(async () => {
  reader = await signUp()
  device = await addRawDevice(reader)
})

const EXPORT = JSON.stringify({
  title: 'The Salt Archive',
  author: 'Mina Oh',
  number_of_pages: 300,
  entries: [{ page: 12, time: 1_760_000_000, text: 'Low tide.', chapter: '1', sort: 'highlight' }],
})

/** The imports of devices, newest first, when all have ended. */
const listEnded = (of = reader): Promise<Import[]> =>
  eventually(async () => {
    const { body } = await of.get('/imports?from=devices')
    if (body.some(({ status }: Import) => status === 'RUNNING')) throw new Error('One still runs')
    return body
  })

const ofWebdav = RECORDED.filter(({ url }) => url.startsWith('/dav/'))
/** statistics.test.ts has the requests for statistics. */
const accepted = ofWebdav.filter(
  ({ url, acceptedAnswer }) => acceptedAnswer.status !== 401 && !url.endsWith('.sqlite3'),
)

describe('the requests of KOReader', () => {
  it('get answers that it takes', async () => {
    const answers = []
    for (const request of accepted) {
      const { status } = await device.repeat(request)
      answers.push(`${request.method} ${request.url} ${status}`)
    }
    expect([...new Set(answers)]).toEqual([
      'PROPFIND /dav/ 207',
      'MKCOL /dav/KOReader 201',
      'PUT /dav/export-json.json 201',
      'PUT /dav/export-my_clippings.txt 201',
      'PUT /dav/export-all.json 201',
      'PUT /dav/junk.bin 422',
    ])
  })

  it('import each file once, and the same books as one file would', async () => {
    const imports = await listEnded()
    expect(imports.map(({ fileName, status }) => [fileName, status])).toEqual([
      ['export-all.json', 'DONE'],
      ['export-my_clippings.txt', 'DONE'],
      ['export-json.json', 'DONE'],
    ])
    expect(new Set(imports.map(({ tokenId }) => tokenId))).toEqual(new Set([device.tokenId]))
    expect(imports.at(-1)?.counts).toMatchObject({ created: 1, failed: 0 })
    const titles = (await booksOf(reader)).map(({ title }: { title: string }) => title)
    expect(titles).toHaveLength(new Set(titles).size)
    expect((await reader.get('/imports')).body).toEqual([])
  })

  it('are refused with a challenge if the token is wrong', async () => {
    const wrong = ofWebdav.filter(({ acceptedAnswer }) => acceptedAnswer.status === 401)
    expect(wrong.length).toBeGreaterThan(0)
    for (const { method, url } of wrong) {
      const headers = { Authorization: `Basic ${btoa('reader:no token')}` }
      const answer = await device.send(method, url, { headers })
      expect(answer).toMatchObject({ status: 401, body: expect.stringMatching(/^Wrong user name or token/) })
      expect(answer.headers.get('WWW-Authenticate')).toBe('Basic realm="Reading Library"')
      expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/)
    }
  })
})

it('does not ask browsers for a token, which they would send with requests of other pages', async () => {
  const headers = { Authorization: '', 'Sec-Fetch-Mode': 'navigate' }
  const answer = await device.send('GET', '/dav/', { headers })
  expect(answer.status).toBe(401)
  expect(answer.headers.get('WWW-Authenticate')).not.toMatch(/basic/i)
})

describe('the folder', () => {
  const propfind = (path: string, Depth?: string) =>
    device.send('PROPFIND', path, { headers: { ...(Depth && { Depth }) } })

  it.each(['0', '1'])('is empty, with depth %s', async (depth) => {
    const { status, headers, body } = await propfind('/dav/a%20&b', depth)
    expect([status, headers.get('Content-Type')]).toEqual([207, 'application/xml; charset=utf-8'])
    expect(body.match(/<d:href>(.*?)<\/d:href>/g)).toEqual(['<d:href>/dav/a%20&amp;b/</d:href>'])
    expect(body).toContain('<d:resourcetype><d:collection/></d:resourcetype>')
    expect(body).toContain('<d:status>HTTP/1.1 200 OK</d:status>')
  })

  it.each(['infinity', undefined, '2'])('lists nothing with depth %s', async (depth) => {
    const { status, body } = await propfind('/dav/', depth)
    expect([status, body]).toEqual([403, expect.stringContaining('<d:propfind-finite-depth/>')])
  })

  it('has no files', async () => {
    expect((await propfind('/dav/export-json.json', '1')).status).toBe(404)
    for (const method of ['GET', 'HEAD']) expect((await device.send(method, '/dav/export-json.json')).status).toBe(404)
  })

  it('says what it can do, but leaves preflight requests to CORS', async () => {
    const { status, headers } = await device.send('OPTIONS', '/dav/', { headers: { Authorization: '' } })
    expect(status).toBe(200)
    expect(headers.get('DAV')).toBe('1')
    expect(headers.get('Allow')).toBe('OPTIONS, PROPFIND, GET, HEAD, PUT, MKCOL')
    const preflight = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' }
    expect((await device.send('OPTIONS', '/dav/', { headers: preflight })).status).toBe(204)
  })

  it.each(['DELETE', 'POST', 'PATCH', 'MOVE', 'COPY', 'LOCK', 'UNLOCK', 'PROPPATCH'])('refuses %s', async (method) => {
    const { status, headers, body } = await device.send(method, '/dav/export-json.json')
    expect([status, body]).toEqual([405, expect.stringMatching(/^Method not allowed: use OPTIONS, PROPFIND/)])
    expect(headers.get('Allow')).toBe('OPTIONS, PROPFIND, GET, HEAD, PUT, MKCOL')
  })
})

describe('access', () => {
  it('needs the scope intake:write', async () => {
    const reading = await addRawDevice(reader, { scopes: ['intake:read'] })
    for (const method of ['PUT', 'GET', 'MKCOL', 'PROPFIND']) {
      const headers = { Depth: '0' }
      const answer = await reading.send(method, '/dav/a', { headers, ...(method === 'PUT' && { body: EXPORT }) })
      expect([method, answer.status, answer.body]).toEqual([method, 403, expect.stringContaining('intake:write')])
    }
  })

  it('is refused to sessions and other access tokens', async () => {
    const { body: script } = await reader.post('/tokens', { name: 'Script', scopes: ['library:write'] })
    for (const token of [reader.token, script.token]) {
      const headers = { Authorization: `Basic ${btoa(`reader:${token}`)}` }
      expect((await device.send('PUT', '/dav/a.json', { headers, body: EXPORT })).status).toBeOneOf([401, 403])
    }
  })

  it('ends with the token', async () => {
    const lost = await addRawDevice(reader)
    expect((await lost.send('MKCOL', '/dav/a')).status).toBe(201)
    await reader.delete(`/tokens/${lost.tokenId}`)
    expect((await lost.send('PUT', '/dav/a.json', { body: EXPORT })).status).toBe(401)
  })

  it('lets a device do nothing else', async () => {
    for (const path of ['/books', '/imports', '/changes', '/tokens']) {
      const answer = await device.send('GET', path, { headers: { Authorization: `Bearer ${device.token}` } })
      expect([path, answer.status]).toEqual([path, expect.toBeOneOf([401, 403])])
    }
  })
})

describe('a file', () => {
  const put = (name: string, body: BodyInit, changed?: Parameters<Device['send']>[3]) =>
    device.send('PUT', `/dav/${name}`, { body }, changed)
  const newest = async () => (await listEnded())[0]
  let at = 0
  const newExport = () => EXPORT.replace('Low tide', `Low tide ${at++}`)

  it.each([
    ['a path', 'a/b/%2e%2e%2f%2e%2e%2fetc%2fpasswd.json', '../../etc/passwd.json'],
    ['control characters', '%00a%0A.json', 'a.json'],
    ['too many characters', `${'%F0%9F%93%96'.repeat(200)}.json`, `${'📖'.repeat(127)}\ufffd`],
    ['what is no UTF-8', '%ff.json', '%ff.json'],
    ['markup', '%3Cscript%3E.json', '<script>.json'],
  ])('may have %s in its name', async (_, path, fileName) => {
    expect((await put(path, newExport())).status).toBe(201)
    expect(await newest()).toMatchObject({ fileName, status: 'DONE' })
  })

  it('outside of the folder is none', async () => {
    expect((await put('../books', newExport())).status).toBe(405)
  })

  it.each([
    ['nothing', '', /^The file cannot be imported: The file is empty\. Send exports of KOReader/],
    ['an archive', 'PK\x03\x04', /ZIP archive/],
    ['other JSON', '{"a": 1}', /not in a known format\. Send exports of KOReader/],
    ['brackets', '{'.repeat(10_000), /cut off or damaged/],
    ['XML', '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>', /XML file/],
  ])('with %s is refused with a sentence', async (_, body, message) => {
    expect(await put('a.json', body)).toMatchObject({ status: 422, body: expect.stringMatching(message) })
  })

  it('of over 10 MiB is refused', { tags: ['slow'] }, async () => {
    const answer = await put('a.json', new Uint8Array(10 * 1024 * 1024 + 1_000_000))
    expect(answer).toMatchObject({ status: 413, body: 'File too large: at most 10 MiB\n' })
  })

  it('is not taken if it should replace a version', async () => {
    const headers = { 'If-Match': '"a"' }
    expect((await device.send('PUT', '/dav/a.json', { headers, body: newExport() })).status).toBe(412)
  })

  it('can be sent again after it could not be stored', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const IMAGES = { ...env.IMAGES, put: () => Promise.reject(new Error('R2 is down')) } as unknown as R2Bucket
    const body = newExport()
    expect(await put('a.json', body, { IMAGES })).toMatchObject({ status: 503 })
    expect(await newest()).toMatchObject({ status: 'FAILED' })
    vi.restoreAllMocks()
    expect((await put('a.json', body)).status).toBe(201)
    expect(await newest()).toMatchObject({ status: 'DONE', counts: { updated: 1 } })
  })

  it('can be undone like any import, and then sent again', async () => {
    const body = EXPORT.replaceAll('The Salt Archive', 'Undone')
    await put('undone.json', body)
    const { importId } = (await newest()) as Import
    expect((await reader.delete(`/imports/${importId}`)).body).toMatchObject({ removed: 1, kept: [] })
    expect((await newest())?.importId).not.toBe(importId)
    await put('undone.json', body)
    expect(await newest()).toMatchObject({ fileName: 'undone.json', counts: { created: 1 } })
  })
})
