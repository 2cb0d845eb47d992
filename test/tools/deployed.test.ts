// @module-tag slow
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { restoreDeployed } from '../../scripts/backup/restore.ts'
import { openExport, writeDump } from '../../scripts/data/dump-files.ts'
import { digestTables } from '../../scripts/data/rows-as-sql.ts'
import { type OpenSlot, openStores } from '../../scripts/data/stores.ts'
import { addMember, createDatabase, createFolder } from './databases.ts'

/** Exports a prepared file, and runs files with D1's limit. */
const FAKE_WRANGLER = `#!/usr/bin/env node
import { copyFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { readStatements } from '${resolve('scripts/data/statements.ts')}'
const [, command, name, ...flags] = process.argv.slice(2)
const valueOf = (flag) => flags[flags.indexOf(flag) + 1]
if (name === 'broken') process.exit(1)
if (command === 'export') {
  copyFileSync(process.env.EXPORTED, valueOf('--output'))
} else {
  const database = new DatabaseSync(process.env.TARGET, { limits: { sqlLength: 100_000 } })
  database.exec('begin')
  for (const statement of readStatements(valueOf('--file'))) database.exec(statement)
  database.exec('commit')
}
`

/** A deployed database, of which `wrangler d1 export` writes what it does of local data. */
const createDeployed = async (change: (database: DatabaseSync) => void) => {
  const folder = createFolder()
  const [data, scratch] = [join(folder, 'data'), join(folder, 'scratch')]
  const database = createDatabase(data)
  addMember(database, [["It's; DROP TABLE books;\n-- END; \\n"], ['A memo', 'Another memo']])
  change(database)
  const { slots, dispose } = await openStores({ persistTo: data })
  const exported = await slots[0]?.database.prepare('PRAGMA miniflare_d1_export(?,?,?);').bind(0, 0).raw<string[]>()
  await dispose()
  writeFileSync(join(folder, 'export.sql'), exported?.[0]?.join('\n') ?? '')
  writeFileSync(join(folder, 'wrangler'), FAKE_WRANGLER, { mode: 0o755 })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  mkdirSync(scratch)
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
  vi.stubEnv('EXPORTED', join(folder, 'export.sql'))
  vi.stubEnv('TARGET', join(folder, 'target.sqlite'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const slot = { slot: 0, binding: 'DB', name: 'reading-library', newMembers: [], isNamed: true }
  const lines: string[] = []
  const report = (line: string) => lines.push(line)
  const dump = () => {
    using source = openExport(slot, scratch, report)
    return writeDump(source, join(folder, 'DB'), scratch, report)
  }
  return { folder, database, slot, lines, report, scratch, dump }
}

it('reports texts that wrangler d1 export has changed', async () => {
  const { lines, dump } = await createDeployed(() => {})
  dump()
  const expected = /^books 1: memoBytes is \d+, but the texts in the export have \d+ bytes: see Backups in docs/
  expect(lines).toContainEqual(expect.stringMatching(expected))
  expect(lines).not.toContainEqual(expect.stringMatching(/^books 2:/))
})

it('dumps an export as the database is, and a deployed database runs the files', async () => {
  const { folder, database, slot, dump } = await createDeployed((database) =>
    database.exec(`delete from memos where memoContent like '%\\%'; update books set title = 'A book'`),
  )
  const digests = dump()
  expect(digests).toEqual(digestTables(database))
  const files = readdirSync(join(folder, 'DB')).map((name) => join(folder, 'DB', name))
  using target = new DatabaseSync(join(folder, 'target.sqlite'))
  const deployed = {
    prepare: (sql: string) => ({ bind: () => ({ all: () => ({ results: target.prepare(sql).all() }) }) }),
  }
  const open = { ...slot, database: deployed } as unknown as OpenSlot
  const { memos = { rows: 0, sha256: '' } } = digests
  expect(await restoreDeployed(open, files, { ...digests, memos: { ...memos, rows: 5 } })).toEqual([
    'memos: 2 rows instead of 5',
  ])
  expect(digestTables(target)).toEqual(digests)
})

it('ends if a database cannot be exported, or refuses a file', async () => {
  const { folder, slot, scratch, report, dump } = await createDeployed(() => {})
  expect(() => openExport({ ...slot, name: 'broken' }, scratch, report)).toThrow('wrangler d1 export broken failed')
  const digests = dump()
  const open = { ...slot, name: 'broken', database: undefined } as unknown as OpenSlot
  const file = join(folder, 'DB', '0001.sql')
  await expect(restoreDeployed(open, [file], digests)).rejects.toThrow(`wrangler d1 execute broken failed at ${file}`)
})
