// @module-tag one-slot
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportLibrary, KINDS } from '../../../scripts/transfer/export-library'
import { type ImportFlags, importFile, listImports, undoImport } from '../../../scripts/transfer/import-file'
import { createPartFiles } from '../../../scripts/transfer/part-files'
import type { Fetch } from '../../../scripts/transfer/service'
import { BASE, handle, signUp } from '../../support/api'
import { select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'

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
      'failed: line 2, without a title: the row has no title',
      'skipped: line 4, "Low Tide": an earlier row of the file is the same book',
    ])
    expect(failedCsv).toBe(`${HEADER}\r\n81237,,Nobody,2026/01/02,,to-read\r\n`)
    expect(lines[0]).toMatch(/^Import \d+: format goodreads, encoding utf-8/)
    expect(lines.at(-1)).toBe('3 of 3 rows')
  })

  it('names possible duplicates, and how to merge them', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'Low Tide: A Story', author: 'Ana Ruiz' })
    const dry = await importWith(handle, reader.token, toFile(TIDE), { dryRun: true })
    const similar = `"Low Tide: A Story" (book ${bookId})`
    expect(dry.problems).toEqual([`possible duplicate: line 2, "Low Tide": ${similar} is similar`])
    const { problems } = await importWith(handle, reader.token, toFile(TIDE))
    const from = (await reader.get('/books')).body.item[0].bookId
    expect(problems).toEqual([
      `possible duplicate: line 2, "Low Tide" (book ${from}): to merge it into ${similar}: POST /books/${bookId}/merge {"from": ${from}}`,
    ])
  })

  it('summarizes what could not be kept', async () => {
    const reader = await signUp()
    const file = toFile("1,A,,2026,,at Mina's", "2,B,,2026/01/02,,at Mina's", '3,C,,2026/01/02,,read')
    const { problems } = await importWith(handle, reader.token, file)
    expect(problems).toEqual([
      `shelf at Mina's (2 books): --map 'at Mina'\\''s=STOPPED', or another status, or TAG`,
      'not kept: 1 × Date Added: only a year or month is known',
    ])
    const highlights = Array.from(
      { length: 222 },
      (_, at) => `T (A)\n- Your Highlight on Location ${at} | x\n\n\n==========\n`,
    )
    const { problems: many } = await importWith(handle, reader.token, new Blob(highlights))
    expect(many).toEqual(['not kept: 222 × highlights: a highlight without text'])
  })

  it('lists imports, and undoes one', async () => {
    const reader = await signUp()
    const service = { fetch: handle, base: BASE, token: reader.token }
    const { ended } = await importWith(handle, reader.token, toFile(TIDE))
    await importWith(handle, reader.token, toFile(TIDE), { dryRun: true })
    expect(await listImports(service)).toEqual([
      expect.stringMatching(/ DONE {2}goodreads, dry run: 0 created, 0 updated, 0 failed$/),
      expect.stringMatching(new RegExp(`^${ended.importId} .* DONE {2}goodreads: 1 created, 0 updated, 0 failed$`)),
    ])
    expect(await undoImport(service, String(ended.importId))).toEqual(['1 books removed, 0 restored'])
    await expect(undoImport(service, '1')).rejects.toThrow(/\(404\)/)
  })

  it('lists what a dry run would change, and what an undo leaves', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz' })
    const service = { fetch: handle, base: BASE, token: reader.token }
    const file = toFile(TIDE.replace('to-read', 'read'))
    const { changes } = await importWith(handle, reader.token, file, { dryRun: true })
    expect(changes).toEqual([
      'changes: line 2, "Low Tide"',
      '  sourceIds: nothing → ["goodreads:81235"]',
      '  bookStatus: YET → DONE',
    ])
    const { ended, changes: none } = await importWith(handle, reader.token, file)
    expect(none).toEqual([])
    await reader.patch(`/books/${bookId}/edition`, { sourceIds: ['isbn:1'] })
    expect(await undoImport(service, String(ended.importId))).toEqual([
      '0 books removed, 0 restored',
      'changed since: "Low Tide": sourceIds kept',
    ])
  })

  it('sends what the file means', async () => {
    const reader = await signUp()
    const file = new Blob(['책 이름,shelf,zodiac,verdict\nLow Tide,a=b,Leo,★★\n'])
    const flags = { dryRun: true, format: 'csv', column: ['title=책 이름', 'status=shelf'], map: ['a=b=DONE'] }
    const { ended, lines } = await importWith(handle, `Bearer ${reader.token}`, file, flags)
    expect(ended).toMatchObject({ dryRun: true, format: 'csv', counts: { created: 1 } })
    expect(lines[0]).toMatch(/^Import \d+, a dry run/)
    expect(lines.slice(1, 3)).toEqual([
      'Columns that are not imported: zodiac, verdict',
      "Warning: verdict looks like a rating, and is not imported (★★): --column 'rating=verdict', if it is",
    ])
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

const decoder = new TextDecoder()

const exportWith = async (fetch: Fetch, token: string, path: string = KINDS.json.path) => {
  const files: string[] = []
  const lines: string[] = []
  const sizes: number[] = []
  const write = async (part: number, content: AsyncIterable<Uint8Array>) => {
    files[part - 1] = ''
    for await (const chunk of content) files[part - 1] += decoder.decode(chunk, { stream: true })
  }
  const options = { fetch, base: BASE, token, path, write, retryMs: 1, report: (line: string) => void lines.push(line) }
  const parts = await exportLibrary({ ...options, reportBytes: (_, bytes) => void sizes.push(bytes) })
  return { files, lines, sizes, parts }
}

/** A member whose library has a part for each of so many books. */
const signUpWithParts = async (count: number) => {
  const reader = await signUp()
  for (let n = 1; n <= count; n++) await reader.createBook({ title: `Book ${n}` })
  await select('update books set memoBytes = 9 * 1024 * 1024 where memberId = ?', await memberIdOf(reader))
  return reader
}
const titlesOf = (files: string[]) =>
  files.map((file) => JSON.parse(file).books.map(({ title }: { title: string }) => title))

describe('npm run export', () => {
  it('downloads all parts, and reports progress', async () => {
    const reader = await signUpWithParts(3)
    const { files, sizes, parts, lines } = await exportWith(handle, reader.token)
    expect([parts, titlesOf(files)]).toEqual([3, [['Book 1'], ['Book 2'], ['Book 3']]])
    expect(sizes.at(-1)).toBe(files[2]?.length)
    expect(lines).toEqual([])
  })

  it('downloads the other formats', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: '=Low Tide' })
    await reader.createMemo(bookId, { memoContent: 'Salt' })
    const load = async (kind: keyof typeof KINDS) => (await exportWith(handle, reader.token, KINDS[kind].path)).files[0]
    expect(await load('csv')).toMatch(/^Book Id,Title,.*\r\n,=Low Tide,/)
    expect(await load('spreadsheet')).toMatch(/^(?:\ufeff)?Book Id,Title,.*\r\n,'=Low Tide,/)
    expect(await load('markdown')).toMatch(/\n## =Low Tide\n[\s\S]*\n> Salt\n/)
  })

  it('retries a part whose connection broke or that was temporarily refused', async () => {
    const reader = await signUpWithParts(2)
    const toBroken = (response: Response) => {
      const breaking = new TransformStream({
        transform: (chunk, controller) => {
          controller.enqueue(chunk)
          controller.error(new TypeError('terminated'))
        },
      })
      return new Response(response.body?.pipeThrough(breaking) ?? null, response)
    }
    const refuse = async (status: number) => new Response(null, { status, headers: { 'Retry-After': '0' } })
    const breakOff: Fetch = async (request) => toBroken(await handle(request))
    const lose = () => Promise.reject(new TypeError('fetch failed'))
    const answers: Fetch[] = [breakOff, () => refuse(429), () => refuse(503), handle, lose, breakOff]
    const { files, lines } = await exportWith((request) => (answers.shift() ?? handle)(request), reader.token)
    expect(titlesOf(files)).toEqual([['Book 1'], ['Book 2']])
    expect(lines).toEqual([
      'Part 1: The connection broke. Retrying in 0.001 s.',
      expect.stringMatching(/^Part 1: .*\(429\).* Retrying in 0\.002 s\.$/),
      expect.stringMatching(/^Part 1: .*\(503\)/),
      expect.stringMatching(/^Part 2: No service answers/),
      expect.stringMatching(/^Part 2: The connection broke/),
    ])
  })

  it('gives up a part after four attempts', async () => {
    const reader = await signUpWithParts(2)
    let requests = 0
    const broken: Fetch = async (request) => {
      requests += 1
      return requests === 1 ? handle(request) : new Response(null, { status: 503 })
    }
    await expect(exportWith(broken, reader.token)).rejects.toThrow(/\(503\)/)
    expect(requests).toBe(5)
  })

  it.each<[problem: string, fetch: Fetch, message: RegExp]>([
    ['a service that is not running', () => Promise.reject(new TypeError('fetch failed')), /No service answers at/],
    ['another service', async () => new Response('<html>'), /is not the Reading Library/],
    [
      'a daily limit',
      async () => Response.json({ message: null }, { status: 429, headers: { 'Retry-After': '3600' } }),
      /\(429\).* Try again in 3600 s/,
    ],
    [
      'a further part at another address',
      async () => {
        const headers = { 'Content-Disposition': 'attachment', Link: '<https://evil.test/export>; rel="next"' }
        return new Response('{}', { headers })
      },
      /unexpected address: https:\/\/evil\.test/,
    ],
  ])('names %s, and sends no second request', async (_, fetch, message) => {
    let requests = 0
    const once: Fetch = (request) => {
      requests += 1
      return fetch(request)
    }
    await expect(exportWith(once, 'token')).rejects.toThrow(message)
    expect(requests).toBe(1)
  })

  it('reports an invalid token', async () => {
    await expect(exportWith(handle, 'token')).rejects.toThrow(/\(401\).* LIBRARY_TOKEN/)
  })
})

describe('the files of an export', () => {
  const content = async function* (...texts: string[]) {
    for (const text of texts) yield new TextEncoder().encode(text)
  }
  const broken = async function* () {
    yield new TextEncoder().encode('{')
    throw new Error('The connection broke.')
  }
  const makeFolder = () => mkdtempSync('/tmp/export-')

  it('get their names when all parts are complete', async () => {
    const folder = makeFolder()
    const files = createPartFiles(join(folder, 'library.json'), false)
    await files.write(1, content('{', '}'))
    await expect(files.write(2, broken())).rejects.toThrow('broke')
    expect(readdirSync(folder).filter((name) => !name.endsWith('.incomplete'))).toEqual([])
    await files.write(2, content('[]'))
    expect(files.publish()).toEqual(['library-part-1.json', 'library-part-2.json'].map((name) => join(folder, name)))
    expect(readdirSync(folder).toSorted()).toEqual(['library-part-1.json', 'library-part-2.json'])
    expect(readFileSync(join(folder, 'library-part-1.json'), 'utf8')).toBe('{}')
  })

  it('are deleted if the export fails', async () => {
    const folder = makeFolder()
    const files = createPartFiles(join(folder, 'library.json'), false)
    await files.write(1, content('{}'))
    await expect(files.write(2, broken())).rejects.toThrow('broke')
    files.discard()
    expect(readdirSync(folder)).toEqual([])
  })

  it('replace an earlier export only on request, with all its parts', async () => {
    const folder = makeFolder()
    const others = ['library-part-0.json', 'library-part-1.csv', 'library.json.txt', 'my-library.json', 'libraryxjson']
    for (const name of [...others, 'library-part-1.json', 'library-part-2.json'])
      writeFileSync(join(folder, name), 'old')
    const file = join(folder, 'library.json')
    expect(() => createPartFiles(file, false).findEarlier()).toThrow(/library-part-1\.json exists: pass --force/)
    const files = createPartFiles(file, true)
    files.findEarlier()
    await files.write(1, content('new'))
    expect(files.publish()).toEqual([file])
    expect(readdirSync(folder).toSorted()).toEqual([...others, 'library.json'].toSorted())
    expect(readFileSync(file, 'utf8')).toBe('new')
  })

  it('do not replace a file that was created meanwhile', async () => {
    const file = join(makeFolder(), 'library.json')
    const files = createPartFiles(file, false)
    files.findEarlier()
    await files.write(1, content('new'))
    writeFileSync(file, 'other')
    expect(() => files.publish()).toThrow('exists')
    expect(readFileSync(file, 'utf8')).toBe('other')
  })

  it('need an existing directory', () => {
    const folder = join(makeFolder(), 'missing')
    expect(() => createPartFiles(join(folder, 'library.json'), false).findEarlier()).toThrow(`no directory ${folder}`)
    expect(existsSync(folder)).toBe(false)
  })
})
