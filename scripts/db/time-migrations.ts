// `npm run db -- time-migrations`: builds a large synthetic database with the schema of the first migration, applies
// the others, and prints how long each takes, and its slowest statement.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fillSynthetic } from '../data/synthetic.ts'
import { failWithUsage, parseOptions } from '../options.ts'
import { print, printError } from '../print.ts'
import { readMigrations } from '../wrangler/migrate-local.ts'

const USAGE = `npm run db -- time-migrations [--books 1000000] [--memos 3000000] [--seconds 1]
  --seconds  exits with 1 if a migration takes longer`
const SHOWN_CHARACTERS = 80

const options = {
  books: { type: 'string', default: '1000000' },
  memos: { type: 'string', default: '3000000' },
  // D1 ends a migration after 30 seconds, and a full database of 10 GB has over six times as many rows.
  seconds: { type: 'string', default: '1' },
} as const
const { values } = parseOptions({ options }, USAGE)
const size = { books: Number(values.books), memos: Number(values.memos) }
if (!Object.values(size).every((count) => Number.isInteger(count) && count > 0)) failWithUsage(USAGE)

const [first, ...others] = readMigrations()
if (!first) throw new Error('There are no migrations')

const folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
using database = new DatabaseSync(join(folder, 'library.sqlite'))
database.exec('pragma journal_mode = off; pragma synchronous = off')
fillSynthetic(database, first.statements, size, (line) => printError(line))
database.exec('pragma journal_mode = wal; pragma synchronous = normal')

const seconds = Number(values.seconds)
const tooLong: string[] = []
for (const { name, statements } of others) {
  const timed = statements.map((statement) => {
    const start = performance.now()
    database.exec(statement)
    return { seconds: (performance.now() - start) / 1000, statement }
  })
  const total = timed.reduce((sum, { seconds }) => sum + seconds, 0)
  const [slowest] = timed.sort((a, b) => b.seconds - a.seconds)
  const shown = slowest?.statement
    .replaceAll(/^--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, SHOWN_CHARACTERS)
  print(`${total.toFixed(2).padStart(6)} s  ${name}: ${shown}`)
  if (total > seconds) tooLong.push(name)
}
for (const name of tooLong)
  printError(`${name}: too long for a full database: see "Change large tables" in CONTRIBUTING.md`)
process.exitCode = tooLong.length > 0 ? 1 : 0
