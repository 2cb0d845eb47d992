import { describe, expect, it } from 'vitest'
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
    const file = new Blob(['책 이름,shelf,zodiac\nLow Tide,a=b,Leo\n'])
    const flags = { dryRun: true, format: 'csv', column: ['title=책 이름', 'status=shelf'], map: ['a=b=DONE'] }
    const { ended, lines } = await importWith(handle, `Bearer ${reader.token}`, file, flags)
    expect(ended).toMatchObject({ dryRun: true, format: 'csv', counts: { created: 1 } })
    expect(lines[0]).toMatch(/^Import \d+, a dry run/)
    expect(lines[1]).toBe('Columns that are left out: zodiac')
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
