import { expect, it } from 'vitest'
import { skipQueries } from '../../scripts/slots/skip-ids.ts'
import { addMember, createDatabase, createFolder } from './databases.ts'

const FIRST_READING = 2 ** 39

it('skips a million identifiers above those of books, memos, and past and current readings', () => {
  const database = createDatabase(createFolder())
  addMember(database, [['A memo'], []])
  const ofPast = FIRST_READING + 5
  const ofCurrent = FIRST_READING + 3_000_000
  database.exec(`update books set bookStatus = 'ING', readingId = ${ofCurrent} where bookId = 1;
    insert into readings (readingId, memberId, bookId, createdAt, outcome) values (${ofPast}, 1, 1, 0, 'STOPPED')`)
  for (const query of skipQueries(0)) database.exec(query)
  expect(database.prepare('select tableName, id from retiredIds order by 1').all()).toEqual([
    { tableName: 'books', id: 1_000_002 },
    { tableName: 'memos', id: 1_000_001 },
    { tableName: 'readings', id: ofCurrent + 1_000_000 },
  ])
})
