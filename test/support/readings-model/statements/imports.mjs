// The import of a chunk of rows, and its undo. The number of statements is constant.
import { insertPast } from './blocks.mjs'
import { COLUMNS, LAST, LIMIT } from './schema.mjs'

/** @param broken whether a part of the design is left out */
export const createImports = (broken, blocks, undo) => {
  const { pastCount, hasRoom, isKept, isOvertaken, keep, renew, promote, describe } = blocks
  const { values, columns, ofUndo, before, complete, undoUpdated, allOf } = undo
  const items = 'json_each(:items) as item'
  const item = (name) => `item.value ->> '${name}'`
  const field = (name) => `item.value -> 'refined' ->> '${name}'`
  const ofItems = `${items} cross join books on books.bookId = ${item('bookId')} and +books.memberId = :memberId`
  const someBooks = (condition) => `select ${item('bookId')} from ${items} where ${condition}`
  const RANK = (status) => `instr('YET ING DONE', ${status})`
  const isAsPlanned = broken('expected') ? 'true' : `${columns} = item.value -> 'expected'`
  const hasReadings = (list) =>
    `(json_array_length(${list}.value, '$.ended') > 0 or ${list}.value -> 'refined' <> 'null')`
  const hasOpen = `c.bookId in (${someBooks(`item.value -> 'open' <> 'null'`)})`
  const state = `(select json_group_array(${values('a')} order by a.readingId) from ${allOf('books')} a)`
  /** A new book has its newest reading in its row; its others are past. Identifiers of books are given by the caller. */
  const insertNew = `insert into books (bookId, memberId, ${COLUMNS.slice(0, 4).join(', ')}, startedAt, finishedAt, isStopped, quarters, note, isPaused)
    select ${item('bookId')}, :memberId, ${['bookStatus', 'readStartDate', 'readEndDate', 'star', 'startedAt', 'finishedAt', 'isStopped', 'quarters', 'note', 'isPaused'].map((name) => `item.value -> 'new' ->> '${name}'`).join(', ')}
    from ${items} where item.value -> 'new' is not null`
  const REFINED = COLUMNS.filter((name) => !['readingId', 'importId'].includes(name))
  const opened = (name) => `item.value -> 'open' ->> '${name}'`
  const importChunk = [
    `insert into undos (memberId, importId, row, bookId, kind, undo)
     select :memberId, :importId, item.key, books.bookId, 'updated', ${before} from ${ofItems}`,
    insertNew,
    // Only in chunks with rows that put a book back.
    keep(
      `select books.bookId from ${ofItems} where ${item('bookStatus')} is not null
         and ${RANK(item('bookStatus'))} < ${RANK('books.bookStatus')} and ${isAsPlanned}`,
      hasRoom('c'),
    ),
    renew(
      `select books.bookId as keptId, ${item('bookStatus')} as status from ${ofItems} where status is not null and ${isKept}`,
      'bookStatus = status,',
    ),
    `update books set bookStatus = coalesce(${item('bookStatus')}, bookStatus), star = coalesce(${item('star')}, star), importId = :importId
     from ${items} where books.bookId = ${item('bookId')} and +books.memberId = :memberId and ${isAsPlanned}
       and item.value -> 'refined' = 'null' and coalesce(${item('bookStatus')}, ${item('star')}) is not null`,
    // The values of the columns, since the row is as it was when they were planned.
    `update books set ${REFINED.map((name) => `${name} = ${field(name)}`).join(', ')}, importId = :importId
     from ${items} where books.bookId = ${item('bookId')} and +books.memberId = :memberId and ${isAsPlanned} and item.value -> 'refined' <> 'null'`,
    `${insertPast} select ${LAST} + row_number() over (order by place), memberId, bookId,
       ${['startedAt', 'finishedAt', 'outcome', 'quarters', 'note'].map((name) => `reading ->> '${name}'`).join(', ')}
     from (
       select books.memberId, books.bookId, ended.value as reading, item.key * 1000 + ended.key as place,
         ${pastCount('books')} + ended.key as before
       from ${ofItems} cross join json_each(item.value, '$.ended') as ended)
     where before < ${LIMIT}`,
    ...(broken('begin')
      ? []
      : [
          keep(
            someBooks('true'),
            `c.outcome is not null and ((${isOvertaken} and c.bookId in (${someBooks(hasReadings('item'))})) or (${hasOpen} and ${hasRoom('c')}))`,
          ),
        ]),
    `update books set ${describe.all(opened)},
       readingId = iif(${isKept}, ${LAST} + place, readingId)
     from (select value, row_number() over (order by key) as place from json_each(:items)) as item
     where books.bookId = ${item('bookId')} and +books.memberId = :memberId and item.value -> 'open' <> 'null'
       and ((${isKept} and ${pastCount('books')} <= ${LIMIT}) or (bookStatus = 'YET' and ${hasRoom('books')}))`,
    promote(
      someBooks(`item.value -> 'new' is null`),
      `(${isKept} or (bookStatus = 'YET' and books.bookId in (${someBooks(`json_array_length(item.value, '$.ended') > 0`)})))`,
    ),
    complete(`(a.readingId > undo ->> 'last' or (undo ->> 'status' = 'YET' and a.readingId = undo ->> 'id'))`),
    `insert into undos (memberId, importId, row, bookId, kind, undo)
     select :memberId, :importId, item.key, books.bookId, 'created', json_object('columns', ${columns}, 'state', ${state})
     from ${ofItems} where item.value -> 'new' is not null`,
  ]
  const undoCreated = [
    `delete from books where bookId in (
       select books.bookId from undos cross join books on books.bookId = undos.bookId and +books.memberId = :memberId
       where ${ofUndo(`kind = 'created'`)} and ${columns} = undo -> 'columns' and ${state} = undo ->> 'state')`,
    `delete from readings where readingId in (
       select r.readingId from undos cross join readings r on r.memberId = undos.memberId and r.bookId = undos.bookId
       where ${ofUndo(`kind = 'created'`)} and not exists (select 1 from books where books.bookId = undos.bookId))`,
    `update undos set undo = json_set(undo, '$.left', 1) from books where ${ofUndo(`kind = 'created'`)} and books.bookId = undos.bookId`,
  ]

  return { importChunk: () => importChunk, undoImport: () => [...undoCreated, ...undoUpdated] }
}
