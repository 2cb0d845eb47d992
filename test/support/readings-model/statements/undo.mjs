// The undo of what an import or a merge did to a book of the library. All rows of an import are undone at once.
import { insertPast } from './blocks.mjs'
import { COLUMNS, currentId, LAST, NEWEST, of, VALUES } from './schema.mjs'

/** @param broken whether a part of the design is left out */
export const createUndo = (broken, blocks) => {
  const { pastCount, isKept, isOvertaken, keep, promote, forget, UNREAD } = blocks
  const values = (table, isPaused = `${table}.isPaused`) => `json_array(${of(table, VALUES.slice(0, -1))}, ${isPaused})`
  const past = (table) => values(table, '0')
  const columns = `json_array(${of('books', COLUMNS).replace('books.readingId', currentId())})`
  const ofUndo = (condition = 'true') => `undos.memberId = :memberId and undos.importId = :importId and ${condition}`
  /** All readings of a book of the outer query. SQLite reads a whole view that is a union if its condition refers to one. */
  const allOf = (book) => `(
    select ${VALUES.join(', ')}, 1 as isCurrent from currentReadings where bookId = ${book}.bookId and +memberId = ${book}.memberId
    union all select ${VALUES.slice(0, -1).join(', ')}, 0, 0 from readings where memberId = ${book}.memberId and bookId = ${book}.bookId)`
  /** What the undo needs of a book as it is before. Of the past rows, only the newest can become current. */
  const before = `json_object('columns', ${columns}, 'status', books.bookStatus, 'id', ${currentId()}, 'last', ${LAST},
    'past', ${pastCount('books')}, 'newest', json((
      select json_array(readingId, quarters) from readings n where n.memberId = books.memberId and n.bookId = books.bookId
      order by ${NEWEST} limit 1)))`
  /** And as it is after: `added` are the readings that came, `kept` is the row of the one that was current. */
  const complete = (isAdded) => `update undos set undo = json_set(undo,
      '$.after', ${columns}, '$.afterId', ${currentId()},
      '$.added', json((select json_group_array(json(${values('a')})) from ${allOf('books')} a where ${isAdded})),
      '$.kept', json((select ${past('k')} from readings k where k.readingId = undo ->> 'id')))
    from books where ${ofUndo(`kind = 'updated'`)} and books.bookId = undos.bookId and +books.memberId = :memberId`

  const setOf = (condition) => `select undos.bookId from undos where ${ofUndo(condition)}`
  const ids = `(select value ->> 0 from json_each(undo, '$.added'))`
  const unchangedPast = `json_each(undo, '$.added') as a cross join readings r on r.readingId = a.value ->> 0
    and r.memberId = undos.memberId and r.bookId = undos.bookId and ${past('r')} = a.value`
  const currentIsAdded = `exists (select 1 from currentReadings c, json_each(undo, '$.added') a
    where c.bookId = books.bookId and ${values('c')} = a.value)`
  /** The book is as the import left it, and its earlier reading is still there. */
  const isExact = `(${columns} = undo -> 'after' and iif(undo ->> 'status' = 'YET',
    ${pastCount('books')} - (select count(*) from ${unchangedPast})
      + (bookStatus <> 'YET' and undo -> 'newest' ->> 0 is ${currentId()}) <= undo ->> 'past',
    undo ->> 'id' = ${currentId()} or exists (
      select 1 from readings r where r.readingId = undo ->> 'id' and r.bookId = books.bookId and ${past('r')} = undo -> 'kept')))`
  const isMarked = (mark) => `undo ->> 'mark' = '${mark}'`
  const isUpdated = `kind = 'updated'`
  const undoUpdated = [
    // exact: the row comes back as it was. drop: only the current reading goes.
    `update undos set undo = json_set(undo, '$.mark', iif(${broken('exact') ? 'false' : isExact}, 'exact', iif(${currentIsAdded}, 'drop', 'keep')), '$.dropped', ${currentId()})
     from books where ${ofUndo(isUpdated)} and books.bookId = undos.bookId and +books.memberId = :memberId`,
    `delete from readings where readingId in (select r.readingId from undos cross join ${unchangedPast} where ${ofUndo(isUpdated)})`,
    // A past reading that had become current, with the stars that it had.
    ...(broken('reinsert')
      ? []
      : [
          `${insertPast}
           select c.readingId, c.memberId, c.bookId, c.startedAt, c.finishedAt, c.outcome, undo -> 'newest' ->> 1, c.note
           from undos cross join currentReadings c on c.bookId = undos.bookId and +c.memberId = :memberId
           where ${ofUndo(isMarked('exact'))} and c.readingId = undo -> 'newest' ->> 0 and c.readingId <> undo ->> 'id'`,
        ]),
    `update books set ${COLUMNS.filter((name) => name !== 'readingId')
      .map((name) => `${name} = undo -> 'columns' ->> ${COLUMNS.indexOf(name)}`)
      .join(', ')},
       readingId = iif(${!broken('fresh')} and undo ->> 'status' = 'YET' and undo ->> 'id' in ${ids},
         ${LAST} + place, nullif(undo ->> 'id', bookId))
     from (select bookId as undoneId, undo, row_number() over (order by bookId) as place from undos where ${ofUndo(isMarked('exact'))})
     where books.bookId = undoneId and +books.memberId = :memberId`,
    keep(
      setOf(`(${isMarked('keep')} or (${isMarked('exact')} and ${pastCount('undos')} > undo ->> 'past'))`),
      isOvertaken,
    ),
    promote(
      setOf(isUpdated),
      `(${isKept} or ${broken('drop') ? 'false' : `books.bookId in (${setOf(isMarked('drop'))})`})`,
    ),
    `update books set ${UNREAD.replace('+ 1', '+ place')}
     from (select bookId as undoneId, undo, row_number() over (order by bookId) as place from undos where ${ofUndo(isMarked('drop'))})
     where books.bookId = undoneId and +books.memberId = :memberId and bookStatus <> 'YET' and ${currentId()} = undo ->> 'dropped'`,
    ...(broken('forget') ? [] : [forget(setOf(isUpdated))]),
    `update undos set undo = json_set(undo, '$.left', iif(
       exists (select 1 from ${allOf('books')} a where a.readingId in ${ids})
       or (undo ->> 'mark' = 'keep' and undo -> 'columns' <> undo -> 'after' and undo ->> 'afterId' not in ${ids}), 1, 0))
     from books where ${ofUndo(isUpdated)} and books.bookId = undos.bookId and +books.memberId = :memberId`,
  ]

  return { values, columns, ofUndo, before, complete, ids, undoUpdated, allOf }
}
