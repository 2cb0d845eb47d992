import { exec } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO } from '../../scripts/seed/demo.ts'
import { startService } from '../support/service/dev-server.ts'
import type { Run, Table } from './commands.ts'

/** As docs/cost.md lists them. */
export const benchmarkParts = () => {
  const [, parts = ''] = /npm run bench -- (rows +# or .*)/.exec(readFileSync('docs/cost.md', 'utf8')) ?? []
  return parts.replace(/ +# or/, ',').split(', ')
}

/** The first cells of the rows of tables, without headings. */
const firstCells = ({ document, heading, exceptHeading }: Table) => {
  const sections = readFileSync(document, 'utf8').split(/^## /m)
  const isOf = (section: string, name = '') => section.startsWith(`${name}\n`)
  const chosen = sections.filter((section) => (heading ? isOf(section, heading) : !isOf(section, exceptHeading)))
  const tables = chosen.join('\n').match(/(?:^\|.*\n)+/gm) ?? []
  return tables.flatMap((table) => {
    const rows = table.trim().split('\n').slice(2)
    return rows.map((row) => row.split('|')[1]?.trim() ?? '').filter(Boolean)
  })
}

/**
 * Runs each command in its quickest form, and checks what it prints.
 * @param tables whose rows one of the commands must print
 */
export const itRuns = (
  runs: Run[],
  { tables = [], concurrent = false }: { tables?: Table[]; concurrent?: boolean } = {},
) =>
  describe('in its quickest form', () => {
    const lines: string[] = []
    let service: Awaited<ReturnType<typeof startService>> | undefined
    let folder = ''
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
      if (runs.some(({ quick }) => quick.includes('URL'))) service = await startService()
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

    it.each(runs)('$quick', { concurrent }, async ({ quick, prints }) => {
      const base = service?.base ?? ''
      const command = quick
        .replaceAll('URL', base)
        .replaceAll('FOLDER', folder)
        .replace('PARTS', benchmarkParts().join(' '))
        .replace('TOKEN', quick.includes('TOKEN') ? await readToken(base) : '')
      const { stdout } = await promisify(exec)(command, { maxBuffer: 2 ** 24 }).catch((error) => {
        throw new Error(`${error.message}\n${error.stdout}`)
      })
      lines.push(...stdout.split('\n'))
      expect(stdout).toContain(prints)
    })

    it.each(tables)('prints the rows of $document', (table) => {
      const cells = firstCells(table)
      expect(cells.length).toBeGreaterThan(5)
      expect(cells.filter((cell) => !lines.some((line) => line.startsWith(table.lineOf(cell))))).toEqual([])
    })
  })
