import { sql } from 'drizzle-orm'
import { isCaller, runAsCaller } from '../../../db/caller'
import { assignments, firstRow, sqlStatement } from '../../../db/client'
import { selectOwnBooks, selectOwnIds, splitIds } from '../../../db/own-book'
import { number } from '../../../db/parameters'
import { ownQuotaExceeded, roomOf } from '../../../db/quotas'
import type { CallerRequest } from '../../../env'
import { ApiError, fieldError } from '../../../errors'
import { MAX_EVENTS, NOTE_PRICE, textPrice } from '../../../values/prices'
import { limitsOf } from '../../../values/quotas'
import { areAllStored, fitBooks, tagChanges, toTagValues } from '../../tags/store'
import type { BooksPatch } from '../schema'
import { changeStatus } from '../status'
import { textsOf, withDerived } from '../store'
import type { ChangedBooks } from './responses'

type Row = { bookId: number }
const ofOwn = sql.raw('bookId in (select bookId from own)')

/** The most rows that a batch changes, and about how many a changed book, a changed tag of one and a merged event take. */
const [MAX_ROWS, ROWS_OF_BOOK, ROWS_OF_TAG, ROWS_OF_EVENT] = [9900, 20, 4.1, 3]
/** The events that triggers may delete when the books are finished: those of long histories, and any of a full member. */
const mergedEvents = sql`(
  select coalesce(sum(20 * eventBlocks + 20), 0) from books
  where ${ofOwn} and bookStatus <> 'DONE' and (eventBlocks >= ${number(MAX_EVENTS / 20)} or ${roomOf(isCaller)} < 0)
)`
const eventsError = 'have too many progress events to be finished in one request: send fewer books'

/** Conditions on the books `own`. Earlier statements of the batch do not change their results. */
const conditionsOf = ({ set = {} }: BooksPatch) => {
  const { texts } = textsOf(set)
  const growth = sql`(select coalesce(sum(:bytes - (${sql.raw(textPrice(texts))})), 0) from books where ${ofOwn})`
  const doTextsFit = texts.length > 0 ? sql`${growth} <= max(0, ${roomOf(isCaller)})` : sql`true`
  const areEventsFew = set.bookStatus === 'DONE' ? sql`${mergedEvents} <= :maxEvents` : sql`true`
  return { doTextsFit, areEventsFew }
}

/** The statements of a change of several books, which do nothing unless all of it is possible. */
const toStatements = (patch: BooksPatch, reserved: number) => {
  const { set = {}, addTags = [], removeTags = [] } = patch
  const { doTextsFit, areEventsFew } = conditionsOf(patch)
  const own = sql`with own as materialized (${selectOwnBooks})`
  const chosen = sql`${own} select memberId, bookId from own where ${doTextsFit} and ${areEventsFew}`
  const hasTags = addTags.length + removeTags.length > 0
  const books = hasTags ? sql`select bookId from chosen where ${areAllStored}` : sql`select bookId from chosen`
  const differs = Object.entries(set).map(([name, value]) => sql`${sql.raw(name)} is not ${value}`)
  const update = sql`update books set ${assignments(withDerived(set))} where bookId in (${books}) and (${sql.join(differs, sql` or `)})`
  const updates = differs.length > 0 ? [...changeStatus(books, set, sql`${reserved}`), update] : []
  const { insertNew, remove, add } = tagChanges(chosen)
  const select = sqlStatement<Record<'doTextsFit' | 'areEventsFew' | 'fitBooks' | 'areAllStored', number>>`
    ${own}, chosen as materialized (select memberId, bookId from own)
    select ${doTextsFit} as doTextsFit, ${areEventsFew} as areEventsFew,
      ${hasTags ? fitBooks : sql`true`} as fitBooks, ${hasTags ? areAllStored : sql`true`} as areAllStored`
  return {
    insertNew: hasTags ? [insertNew] : [],
    select,
    changes: [
      ...updates.map((change) => sqlStatement<Row>`with chosen as materialized (${chosen}) ${change} returning bookId`),
      ...(hasTags ? [remove, add] : []),
    ],
  }
}

/**
 * Changes several books alike, or none of them.
 * @throws MAX_MEMBER_TEXT_BYTES, MAX_BOOK_TAGS or MAX_TAGS when a limit would be exceeded; INVALID_FIELDS when the change
 * would take too many rows
 */
export const updateBooks = async (request: CallerRequest, patch: BooksPatch): Promise<ChangedBooks> => {
  const { db, caller, config } = request
  const { ids, set = {}, addTags = [], removeTags = [] } = patch
  const { bytes } = textsOf(set)
  const rows = ids.length * (ROWS_OF_BOOK + ROWS_OF_TAG * (addTags.length + removeTags.length))
  const values = {
    ...{ ids: JSON.stringify(ids), bytes, maxEvents: (MAX_ROWS - rows) / ROWS_OF_EVENT },
    ...toTagValues(addTags, removeTags).values,
    ...limitsOf(config),
  }
  const { insertNew, select, changes } = toStatements(patch, ids.length * (bytes + NOTE_PRICE) - NOTE_PRICE)
  const { own, checks, changed } = await runAsCaller(db, caller, {
    own: selectOwnIds(values),
    inserted: insertNew.map((insert) => insert(values)),
    checks: firstRow(select(values)),
    changed: changes.map((change) => change(values)),
  })
  if (own.length > 0 && checks) {
    if (!checks.doTextsFit) throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', config)
    if (!checks.areEventsFew) throw fieldError('ids', ids, eventsError)
    if (!checks.areAllStored) throw new ApiError(checks.fitBooks ? 'MAX_TAGS' : 'MAX_BOOK_TAGS')
  }
  const { done, left, missing } = splitIds(ids, own, changed.flat())
  return { changed: done, unchanged: left, missing }
}
