// Books in the trash: deleted ones, and those that were merged into others, which a restore takes apart again.
import { insertPast } from './blocks.mjs'
import { COLUMNS, currentId, of, stars, UNARCHIVED, VALUES } from './schema.mjs'

/** @param broken whether a part of the design is left out */
export const createTrash = (broken, blocks, undo) => {
  const { isInSet, isRefined, keep, promote, settle, forget, UNREAD } = blocks
  const { values, columns, ofUndo, before, complete, ids, undoUpdated, allOf } = undo
  const ONE = ':bookId'
  const ownBook = isInSet('books', ONE)
  const toTrash = (book, importId) => `insert into trash (memberId, trashId, bookId, book, readings, importId)
    select memberId, :trashId, bookId, ${columns}, (
      select json_group_array(json_array(${of('a', VALUES)}, a.isCurrent)) from ${allOf('books')} a), ${importId}
    from books where ${isInSet('books', book)}`
  const deleteBook = [
    toTrash(ONE, 'null'),
    `delete from readings where memberId = :memberId and bookId = :bookId`,
    `delete from books where ${ownBook}`,
  ]
  const ofTrash = 'trash.memberId = :memberId and trashId = :trashId'
  const insertBook = `insert into books (bookId, memberId, ${COLUMNS.join(', ')})
    select bookId, memberId, ${COLUMNS.map((name, at) => (name === 'readingId' ? `nullif(book ->> ${at}, bookId)` : `book ->> ${at}`)).join(', ')} from trash where ${ofTrash}`
  const isBack = broken('back') ? 'true' : `(back is null or each.value ->> 0 in (select value from json_each(back)))`
  const insertReadings = broken('trash')
    ? []
    : [
        `${insertPast} select each.value ->> 0, memberId, bookId, each.value ->> 1, each.value ->> 2, each.value ->> 3, each.value ->> 4, each.value ->> 5
         from trash cross join json_each(readings) as each where ${ofTrash} and not each.value ->> 7 and ${isBack}`,
      ]
  const deleteTrash = `delete from trash where ${ofTrash}`
  /** The current reading of the merged book is still changed in the other one, or deleted there. */
  const isCurrentGone = `exists (select 1 from trash cross join json_each(readings) as each where ${ofTrash} and each.value ->> 7 and not ${isBack})`
  const restoreTrash = ({ isMerge }) =>
    isMerge
      ? [
          // What came back, or was left out: unless it was changed or deleted since.
          `update trash set back = (
             select json_group_array(each.value ->> 0) from undos cross join json_each(readings) as each
             where ${ofUndo()} and (each.value ->> 0 not in ${ids} or exists (
               select 1 from json_each(undo, '$.added') as a cross join ${allOf('undos')} now
               where a.value ->> 0 = each.value ->> 0 and ${values('now')} = a.value)))
           where ${ofTrash}`,
          ...undoUpdated,
          insertBook,
          ...insertReadings,
          promote(ONE, isCurrentGone),
          `update books set ${UNREAD} where ${ownBook} and ${isCurrentGone}
             and ${currentId()} in (select each.value ->> 0 from trash cross join json_each(readings) as each where ${ofTrash} and each.value ->> 7)`,
          forget(ONE),
          deleteTrash,
        ]
      : [insertBook, ...insertReadings, deleteTrash]

  const isOpen = (book) => `exists (select 1 from currentReadings o where o.bookId = ${book} and o.outcome is null)`
  const isKnown = (outcome, reading) => {
    const isSame = `k.startedAt is ${reading}.startedAt and k.finishedAt is ${reading}.finishedAt and k.outcome is ${outcome}`
    return `(exists (select 1 from currentReadings k where k.bookId = :bookId and +k.memberId = :memberId and ${isSame})
      or exists (select 1 from readings k where k.memberId = :memberId and k.bookId = :bookId and ${isSame}))`
  }
  const takesOpen = `${isOpen(':fromId')} and not ${isOpen(':bookId')}`
  /** :fromId is merged into :bookId. */
  const merge = [
    toTrash(':fromId', ':importId'),
    `insert into undos (memberId, importId, row, bookId, kind, undo)
     select memberId, :importId, 0, bookId, 'updated', ${before} from books where ${ownBook}`,
    `${insertPast} select c.readingId, c.memberId, :bookId, c.startedAt, c.finishedAt, coalesce(c.outcome, 'STOPPED'), c.quarters, c.note
     from currentReadings as c where c.bookId = :fromId and +c.memberId = :memberId
       and (c.outcome is not null or (${isOpen(':bookId')} and exists (select 1 from books r where r.bookId = :fromId and ${isRefined('r')})))
       and not ${isKnown("coalesce(c.outcome, 'STOPPED')", 'c')}`,
    ...(broken('merge') ? [] : [keep(ONE, `c.outcome is not null and ${takesOpen}`)]),
    `update books set bookStatus = 'ING', readStartDate = iif(c.startedAt is substr(f.readStartDate, 1, 10), f.readStartDate, null), readEndDate = null,
       star = coalesce(${stars('c.quarters')}, books.star), readingId = c.readingId, startedAt = f.startedAt, finishedAt = null, isStopped = 0,
       quarters = f.quarters, note = f.note, isPaused = f.isPaused, ${UNARCHIVED}
     from currentReadings c, books f
     where ${ownBook} and c.bookId = :fromId and f.bookId = :fromId and c.outcome is null and not ${isOpen(':bookId')}`,
    `delete from readings where memberId = :memberId and bookId = :fromId and ${isKnown('readings.outcome', 'readings')}`,
    'update readings set bookId = :bookId where memberId = :memberId and bookId = :fromId',
    'delete from books where bookId = :fromId and +memberId = :memberId',
    ...settle(ONE, `bookStatus = 'YET'`),
    complete(
      `a.readingId in (select each.value ->> 0 from trash cross join json_each(readings) as each where ${ofTrash})`,
    ),
  ]

  return { deleteBook: () => deleteBook, restoreTrash, merge: () => merge }
}
