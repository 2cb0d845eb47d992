import { exec, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO } from '../../scripts/seed/demo.ts'
import { readCommands } from '../support/document/commands.ts'
import { startService } from '../support/service/dev-server.ts'
import { ELSEWHERE, NOT_RUN, RUNS } from './commands.ts'

const DOCUMENTS = globSync(['*.md', 'docs/**/*.md', 'test/*.md'])
const isRunbook = (path: string) => /^docs.(?:deploy|operations)\.md$/.test(path)
const PACKAGE_COMMAND = /\bnp(?:m\s+run|x)\s+\w+/g

const runbook = DOCUMENTS.filter(isRunbook).flatMap(readCommands)
const documented = DOCUMENTS.filter((path) => !isRunbook(path))
  .flatMap(readCommands)
  .flatMap(({ text }) => text.split(' && '))
  .filter((text) => /\bnp[mx] /.test(text))

describe('the commands of the documents', () => {
  const listed = [
    ...RUNS.flatMap(({ commands }) => commands),
    ...[...ELSEWHERE, ...NOT_RUN].map(([command]) => command),
  ]

  it('are all found', () => {
    const count = (texts: string[]) => texts.flatMap((text) => text.match(PACKAGE_COMMAND) ?? []).length
    const counts = DOCUMENTS.map((path) => [path, count(readCommands(path).map(({ text }) => text))])
    expect(counts).toEqual(DOCUMENTS.map((path) => [path, count([readFileSync(path, 'utf8')])]))
  })

  it('are all run, or have a reason', () => {
    const isInRunbook = (command: string) =>
      runbook.some(({ text }) => text === command || text.startsWith(`${command} `))
    expect(documented.filter((command) => !isInRunbook(command) && !listed.includes(command))).toEqual([])
  })

  it('are named by the documents', () => {
    expect(listed.filter((command) => !documented.includes(command) && command !== 'npm run smoke')).toEqual([])
    expect(ELSEWHERE.filter(([, file]) => !existsSync(file))).toEqual([])
  })

  it('include every part of the benchmark', () => {
    const { stderr } = spawnSync('npm', ['run', 'bench', '--', 'no-such-part'], { encoding: 'utf8' })
    const [, parts] = /PART +(.*);/.exec(stderr) ?? []
    expect(parts?.split(', ')).toEqual(benchmarkParts())
  })
})

/** As docs/cost.md lists them. */
const benchmarkParts = () => {
  const [, parts = ''] = /npm run bench -- (rows +# or .*)/.exec(readFileSync('docs/cost.md', 'utf8')) ?? []
  return parts.replace(/ +# or/, ',').split(', ')
}

/** The first cells of the rows of tables, without headings. */
const firstCells = (path: string, heading = '') => {
  const page = readFileSync(path, 'utf8')
  const section = heading ? (page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '') : page
  const tables = section.match(/(?:^\|.*\n)+/gm) ?? []
  return tables.flatMap((table) => {
    const rows = table.trim().split('\n').slice(2)
    return rows.map((row) => row.split('|')[1]?.trim() ?? '').filter(Boolean)
  })
}

describe('in its quickest form', () => {
  let service: Awaited<ReturnType<typeof startService>> | undefined
  let folder = ''
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
    service = await startService()
  })
  afterAll(async () => {
    await service?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Of the demo member, if there is one. */
  const readToken = async (base: string) => {
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ email: DEMO.email, password: DEMO.password })
    const response = await fetch(`${base}/login`, { method: 'POST', headers, body })
    return response.headers.get('Authorization')?.replace('Bearer ', '') ?? ''
  }

  it.each(RUNS)('$quick', async ({ quick, prints, tables }) => {
    const base = service?.base ?? ''
    const command = quick
      .replaceAll('URL', base)
      .replaceAll('FOLDER', folder)
      .replace('PARTS', benchmarkParts().join(' '))
      .replace('TOKEN', quick.includes('TOKEN') ? await readToken(base) : '')
    const { stdout } = await promisify(exec)(command, { maxBuffer: 2 ** 24 }).catch((error) => {
      throw new Error(`${error.message}\n${error.stdout}`)
    })
    expect(stdout).toContain(prints)
    if (!tables) return
    const cells = firstCells(tables.document, tables.heading)
    const lines = stdout.split('\n')
    expect(cells.length).toBeGreaterThan(10)
    expect(cells.filter((cell) => !lines.some((line) => line.startsWith(tables.lineOf(cell))))).toEqual([])
  })
})
