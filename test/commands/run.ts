import { exec } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO } from '../../scripts/seed/demo.ts'
import { startService } from '../support/service/dev-server.ts'
import type { Run } from './commands.ts'

/** As docs/cost.md lists them. */
export const benchmarkParts = () => {
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

/** Runs each command in its quickest form, and checks what it prints. */
export const itRuns = (runs: Run[]) =>
  describe('in its quickest form', () => {
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

    it.each(runs)('$quick', async ({ quick, prints, tables }) => {
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
