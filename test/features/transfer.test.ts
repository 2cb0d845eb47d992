import { describe, expect, it } from 'vitest'
import { exportLibrary, nextPath, partName } from '../../scripts/transfer/export-library'
import { type ImportFlags, importFile } from '../../scripts/transfer/import-file'
import type { Fetch } from '../../scripts/transfer/service'
import { BASE, handle, signUp } from '../support/api'

const HEADER = 'Book Id,Title,Author,Date Added,Bookshelves,Exclusive Shelf'
const toFile = (...rows: string[]) => new Blob([[HEADER, ...rows].join('\n')])
const TIDE = '81235,Low Tide,Ana Ruiz,2026/01/02,,to-read'

const importWith = async (fetch: Fetch, token: string, file: Blob, flags: ImportFlags = {}) => {
  const lines: string[] = []
  const report = (line: string) => void lines.push(line)
  const options = { fetch, base: BASE, token, file, name: 'books.csv', flags, report, pollMs: 20 }
  return { ...(await importFile(options)), lines }
}

describe('npm run import', () => {
  it('imports a file, shows the progress, and reports rows that failed or were skipped', async () => {
    const reader = await signUp()
    const file = toFile('81237,,Nobody,2026/01/02,,to-read', TIDE, TIDE)
    const { ended, problems, failedCsv, lines } = await importWith(handle, reader.token, file)
    expect(ended).toMatchObject({ status: 'DONE', counts: { created: 1, failed: 1, skipped: 1 } })
    expect(problems).toEqual([
      'failed: line 2, without a title: it has no title',
      'skipped: line 4, "Low Tide": an earlier row of the file is the same book',
    ])
    expect(failedCsv).toBe(`${HEADER}\r\n81237,,Nobody,2026/01/02,,to-read\r\n`)
    expect(lines[0]).toMatch(/^Import \d+: format goodreads, encoding utf-8/)
    expect(lines.at(-1)).toBe('3 of 3 rows')
  })

  it('sends what the file means', async () => {
    const reader = await signUp()
    const file = new Blob(['책 이름,shelf\nLow Tide,a=b\n'])
    const flags = { dryRun: true, format: 'csv', column: ['title=책 이름', 'status=shelf'], map: ['a=b=DONE'] }
    const { ended, lines } = await importWith(handle, `Bearer ${reader.token}`, file, flags)
    expect(ended).toMatchObject({ dryRun: true, format: 'csv', counts: { created: 1 } })
    expect(lines[0]).toMatch(/^Import \d+, a dry run/)
    expect((await reader.get('/books?sort=created&size=100')).body.item).toEqual([])
    await expect(importWith(handle, reader.token, file, { map: ['=DONE'] })).rejects.toThrow('must be a name')
    await expect(importWith(handle, reader.token, file, { map: ['a=READ'] })).rejects.toThrow(/\(400\): shelfMap/)
    await expect(importWith(handle, reader.token, file, { merge: 'x' })).rejects.toThrow(/\(400\): .*merge must be/)
  })

  it('continues when the service is unavailable for a moment', async () => {
    const reader = await signUp()
    const isLost = [true, true, true]
    const unsteady: Fetch = async (request) => {
      if (request.method === 'GET' && isLost.pop()) {
        if (isLost.length === 1) throw new TypeError('fetch failed')
        return new Response(null, { status: 503 })
      }
      return handle(request)
    }
    const { ended, lines } = await importWith(unsteady, reader.token, toFile(TIDE))
    expect(ended).toMatchObject({ status: 'DONE', counts: { created: 1 } })
    expect(lines.filter((line) => line.includes('unavailable'))).toHaveLength(3)
  })

  it.each<[problem: string, fetch: Fetch, message: RegExp]>([
    ['a service that is not running', () => Promise.reject(new TypeError('fetch failed')), /No service answers at/],
    ['another service', async () => new Response('<html>'), /is not the Reading Library/],
    [
      'another import that runs',
      async () => Response.json({ message: 'Another import is running' }, { status: 409 }),
      /\(409\): Another import is running\. Wait until/,
    ],
    [
      'a daily limit',
      async () => Response.json({ message: null }, { status: 429, headers: { 'Retry-After': '60' } }),
      /\(429\).* Try again in 60 s/,
    ],
  ])('names %s', async (_, fetch, message) => {
    await expect(importWith(fetch, 'token', toFile(TIDE))).rejects.toThrow(message)
  })

  it('names a token that is not valid, and a file that cannot be read', async () => {
    await expect(importWith(handle, 'token', toFile(TIDE))).rejects.toThrow(/\(401\).* LIBRARY_TOKEN/)
    const reader = await signUp()
    const zip = new Blob([new Uint8Array([0x50, 0x4b, 3, 4, 0, 0])])
    await expect(importWith(handle, reader.token, zip)).rejects.toThrow(/\(422\): The file cannot be imported.*ZIP/)
  })
})

/** A service whose export has parts, and what it was asked for. */
const serveParts = (base: string, ...parts: [content: string, link?: string][]) => {
  const asked: string[] = []
  const fetch: Fetch = async ({ url, headers }) => {
    asked.push(`${url.slice(base.length)} ${headers.get('Authorization')}`)
    const [content = '', link] = parts[asked.length - 1] ?? []
    return new Response(content, { headers: link ? { Link: link } : {} })
  }
  return { fetch, asked }
}

const exportFrom = async (fetch: Fetch, base: string, format: 'json' | 'csv' | 'md' = 'json') => {
  const written: string[] = []
  const bytes: number[] = []
  const count = await exportLibrary({
    fetch,
    base,
    token: 'token',
    format,
    write: async (part, content) => {
      for await (const chunk of content) written[part - 1] = (written[part - 1] ?? '') + new TextDecoder().decode(chunk)
    },
    report: (part, received) => {
      bytes[part - 1] = received
    },
  })
  return { count, written, bytes }
}

describe('npm run export', () => {
  it.each([
    ['json', '/export'],
    ['csv', '/export.csv'],
    ['md', '/export/memos.md'],
  ] as const)('downloads %s from %s', async (format, path) => {
    const { fetch, asked } = serveParts(BASE, ['content'])
    expect(await exportFrom(fetch, BASE, format)).toEqual({ count: 1, written: ['content'], bytes: [7] })
    expect(asked).toEqual([`${path} Bearer token`])
  })

  it('follows the links to further parts, below the path of the service', async () => {
    const base = 'https://library.test/api'
    const { fetch, asked } = serveParts(
      base,
      ['[1]', '</export?part=1>; rel="prev", </export?part=2>; rel="next"'],
      ['[23]', `<${base}/export?part=3>; rel=next`],
      ['[456]', '</export?part=1>; rel="first"'],
    )
    expect(await exportFrom(fetch, base)).toEqual({ count: 3, written: ['[1]', '[23]', '[456]'], bytes: [3, 4, 5] })
    expect(asked.map((each) => each.split(' ')[0])).toEqual(['/export', '/export?part=2', '/export?part=3'])
  })

  it.each(['https://evil.test/export', '//evil.test/export', 'https://library.test.evil.test/export'])(
    'does not send the token to %s',
    async (target) => {
      expect(() => nextPath(`<${target}>; rel="next"`, BASE)).toThrow('at another address')
    },
  )

  it('names a connection that was lost', async () => {
    const content = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(3)),
      pull: (controller) => controller.error(new Error('terminated')),
    })
    await expect(exportFrom(async () => new Response(content), BASE)).rejects.toThrow(/lost after \d+ bytes/)
  })

  it('says why the service refused', async () => {
    await expect(exportFrom(async () => Response.json({}, { status: 404 }), BASE)).rejects.toThrow(/\(404\)/)
  })

  it.each([
    ['library.json', 'library.2.json'],
    ['backup/my.library.csv', 'backup/my.library.2.csv'],
    ['out.d/library', 'out.d/library.2'],
    ['.library', '.library.2'],
  ])('names the second part of %s', (file, second) => {
    expect([partName(file, 1), partName(file, 2)]).toEqual([file, second])
  })
})
