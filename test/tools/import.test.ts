// @module-tag slow
import { once } from 'node:events'
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createFolder, runImportScript } from './databases.ts'

/** What a file, or a member who shared one, can make a terminal do. */
const HOSTILE = '\u001b[2J\u009b31m\u0007\u202e\u2028\nHTTP 200: 999 created'
const COUNTS = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 1 }
const IMPORT = { importId: 1, status: 'DONE', format: 'csv', encoding: 'utf-8', rows: 1, counts: COUNTS, reason: null }
const ROW = { line: 2, title: HOSTILE, outcome: 'failed', code: 'no-title', changes: [], bookId: null, similarTo: null }
const losses = [{ code: 'custom-shelf-needs-choice', field: `Shelf: ${HOSTILE}` }]
const ANSWERS: Record<string, unknown> = {
  'POST /imports': {
    ...{ ...IMPORT, unknownColumns: [HOSTILE] },
    unreadColumns: [{ column: HOSTILE, looksLike: 'STATUS', samples: [HOSTILE] }],
  },
  'GET /imports/1': { ...IMPORT, status: 'FAILED', reason: HOSTILE },
  'GET /imports/1/rows': { item: [{ ...ROW, losses }] },
}

/** A service with one import, whose texts are hostile, and a file to import. */
const createImport = async (answers = ANSWERS) => {
  const requests: string[] = []
  const server = createServer(async ({ method, url = '' }, response) => {
    requests.push(`${method} ${url}`)
    const answer = answers[`${method} ${url.split('?')[0]}`]
    const status = answer instanceof Error ? 422 : 200
    const body = answer instanceof Error ? { message: answer.message } : (answer ?? 'private\r\n')
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const file = join(createFolder(), 'books.csv')
  writeFileSync(file, 'Title\n\n')
  const { port } = server.address() as AddressInfo
  const run = (...args: string[]) => runImportScript(file, '--url', `http://127.0.0.1:${port}`, '--token', 't', ...args)
  return { file, run, requests }
}
const modeOf = (path: string) => statSync(path).mode & 0o777

it('escapes what a file, or a service, could do to the terminal', async () => {
  const { file, run } = await createImport()
  const { stdout, stderr } = await run('--report', `${file}.report`)
  for (const text of [stdout, stderr, readFileSync(`${file}.report`, 'utf8')]) {
    expect(text).toContain(String.raw`\u001b[2J\u009b31m\u0007\u202e\u2028\u000aHTTP`)
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]|^HTTP/mu)
  }
  const refusing = await createImport({ 'POST /imports': new Error(HOSTILE) })
  const refused = await refusing.run()
  expect(refused.stderr).toContain(String.raw`\u001b[2J`)
  expect(refused.stderr).not.toMatch(/(?!\n)\p{Cc}|^HTTP/mu)
})

it('writes files that only their owner can read, and replaces none unless told to', async () => {
  const { file, run, requests } = await createImport()
  const [report, failed] = [`${file}.report`, `${file}.failed.csv`]
  expect((await run('--report', report)).code).toBe(1)
  expect([modeOf(report), modeOf(failed)]).toEqual([0o600, 0o600])
  for (const [path, args] of [
    [failed, []],
    [report, ['--report', report]],
  ] as const) {
    rmSync(failed)
    writeFileSync(path, 'mine')
    chmodSync(path, 0o644)
    requests.length = 0
    const refused = await run(...args)
    expect([refused.code, requests]).toEqual([2, []])
    expect(refused.stderr).toContain(`${path} exists: pass --force to replace it`)
    expect(readFileSync(path, 'utf8')).toBe('mine')
    expect((await run(...args, '--force')).code).toBe(1)
    expect(readFileSync(path, 'utf8')).not.toContain('mine')
    expect(modeOf(path)).toBe(0o600)
  }
})

it('sends what it was told about memos that the file marks as public', async () => {
  const { run, requests } = await createImport()
  await run('--keep-visibility')
  await run('--force')
  const sent = requests.filter((request) => request.startsWith('POST'))
  expect(sent).toEqual(['POST /imports?dryRun=false&keepVisibility=true', 'POST /imports?dryRun=false'])
})
