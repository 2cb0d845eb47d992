// What a position does to its book: docs/decisions/0037-devices.md.

import { type SQL, sql } from 'drizzle-orm'
import { callerId } from '../../db/caller'
import { idempotent, sqlStatement, type Values } from '../../db/client'
import { restoreFor } from '../../library/books/status'

/**
 * The statements that apply a position to its book.
 * @param isPosition matches the position among those of the document; of several, the newest counts
 */
export const applyPosition = (isPosition: SQL) => {
  const latest = (column: string) => sql`(
    select event.${sql.raw(column)} from progress as event
    where event.memberId = books.memberId and event.bookId = books.bookId order by event.at desc limit 1
  )`
  // A book that is being read, or that the device may begin. Others stay as they are. `reached`, `known`: the new and the
  // present page or, without itemPage, second. `isNew`: the reading has no event yet.
  const book = sql`
    position as materialized (
      select * from positions where memberId = ${callerId} and document = :document and ${isPosition}
      order by at desc limit 1
    ),
    book as materialized (
      select books.memberId, books.bookId, bookStatus, currentPage, position.tokenId, isReplayed, position.at,
        itemPage is not null as hasPages,
        cast(round(percentage * coalesce(itemPage, books.seconds)) as integer) as reached,
        iif(itemPage is null, coalesce(${latest('seconds')}, 0), currentPage) as known,
        bookStatus = 'YET' or readingSince > coalesce(max(${latest('at')}, 0), 0) as isNew
      from position cross join documents using (memberId, document)
        cross join books on books.bookId = documents.bookId and books.memberId = documents.memberId
      where coalesce(itemPage, books.seconds) is not null and (bookStatus = 'ING' or (bookStatus = 'YET' and exists (
        select 1 from accessTokens
        where accessTokens.memberId = position.memberId and accessTokens.tokenId = position.tokenId and startsBooks
      )))
    )`
  const insertEvent = sqlStatement`
    with ${book}
    insert into progress (memberId, bookId, at, page, kind, total, tokenId, pageBefore, begins, seconds)
    select book.memberId, book.bookId, max(book.at, coalesce(latest.at + 1, book.at)), iif(hasPages, reached, currentPage),
      iif(isReplayed, 'UNDATED', reached < known and not isNew, 'CORRECTION', 'PROGRESS'),
      coalesce(latest.total, 0) + 1, book.tokenId, currentPage, bookStatus = 'YET' and reached > 0,
      iif(hasPages, null, reached)
    from book left join (
      select at, total, tokenId from progress
      where (memberId, bookId) = (select memberId, bookId from book) order by at desc limit 1
    ) as latest
    where reached > known
      or (reached < known and not isReplayed and (isNew or latest.tokenId = book.tokenId))`
  const updatePage = sqlStatement`
    with ${book}
    update books set currentPage = latest.page, activityAt = max(latest.at, coalesce(activityAt, 0))
    from (
      select bookId, at, page, seconds from progress
      where (memberId, bookId) = (select memberId, bookId from book) order by at desc limit 1
    ) as latest
    where books.bookId = latest.bookId
      and (currentPage <> latest.page or (latest.seconds is not null and coalesce(activityAt, 0) < latest.at))`
  const begun = sql`
    with ${book} select bookId from book where bookStatus = 'YET' and reached > 0 and reached = known`
  const begin = [
    sqlStatement`${restoreFor(begun, { bookStatus: 'ING' })}`,
    sqlStatement`update books set bookStatus = 'ING', isStopped = 0 where bookId in (${begun})`,
  ]
  return (values: Values) => [insertEvent, updatePage, ...begin].map((build) => idempotent(build(values)))
}
