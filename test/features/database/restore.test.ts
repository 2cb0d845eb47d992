import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { sortDump } from '../../../scripts/data/sort-statements.ts'
import { signUp } from '../../support/api'
import { fillShelf, memberDatabase, select } from '../../support/database'

const HOSTILE_TEXT = "It's; DROP TABLE books;\n-- END; “그래서”"
const TABLES = [
  'bookTags',
  'accessTokens',
  'accountCodes',
  'activity',
  'authors',
  'books',
  'emailUndos',
  'imports',
  'importRows',
  'members',
  'memos',
  'images',
  'retiredIds',
  'attempts',
  'joinCodes',
  'dailyMails',
  'purgeJobs',
  'addresses',
  'slotCounters',
  'slotMarks',
  'sessions',
  'settledClaims',
  'progress',
  'readings',
  'tags',
]

/** The statements of a dump in the order of `wrangler d1 export`: each table with its rows, then everything else. */
const dump = async () => {
  const schema = await select(`select type, name, sql from sqlite_master where sql is not null`)
  const statements = ['PRAGMA defer_foreign_keys=TRUE']
  for (const table of TABLES) {
    statements.push(String(schema.find(({ name }) => name === table)?.sql))
    const [first = {}] = await select(`select * from ${table} limit 1`)
    const columns = Object.keys(first).map((column) => `"${column}"`)
    if (columns.length === 0) continue
    const quoted = columns.map((column) => `quote(${column})`).join(` || ',' || `)
    for (const { row } of await select(`select ${quoted} as row from ${table}`)) {
      statements.push(`INSERT INTO "${table}" (${columns}) VALUES(${row})`)
    }
  }
  statements.push(...schema.filter(({ type }) => type !== 'table').map(({ sql }) => String(sql)))
  return statements
}

const restored = env.MIGRATED
const restore = (statements: string[]) => restored.batch(statements.map((statement) => restored.prepare(statement)))
const readRows = async (db: D1Database) => {
  const queries = ['members', 'books', 'memos'].map((table) => db.prepare(`select * from ${table} order by 1`))
  return (await db.batch(queries)).map(({ results }) => results)
}

let statements: string[]
beforeAll(async () => {
  const reader = await signUp()
  const [member] = await select('select memberId from members')
  await fillShelf(Number(member?.memberId), 40)
  const { bookId } = await reader.createBook({ title: HOSTILE_TEXT })
  await reader.createMemo(bookId, { memoContent: HOSTILE_TEXT })
  statements = await dump()
})

it('cannot restore an unsorted dump, since books reference members', async () => {
  await expect(restore(statements)).rejects.toThrow(/no such table/)
})

it('restores every row, counter and trigger from a sorted dump', async () => {
  await restore(sortDump(statements))
  expect(await readRows(restored)).toEqual(await readRows(memberDatabase()))
  expect(await findMismatches(restored)).toEqual([])

  await restored.prepare(`delete from memos where memoContent = ?`).bind(HOSTILE_TEXT).run()
  await restored.prepare(`update books set bookStatus = 'ING' where bookId = 1`).run()
  expect(await findMismatches(restored)).toEqual([])
})
