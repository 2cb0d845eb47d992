// The requests that change one book.
import { insertPast } from './blocks.mjs'
import { CLEAR, currentId, LAST, stars, UNARCHIVED } from './schema.mjs'

/** @param broken whether a part of the design is left out */
export const createRequests = (broken, blocks) => {
  const {
    isInSet,
    hasRoom,
    isKept,
    isOvertaken,
    isRefined,
    keep,
    renew,
    keptOf,
    taken,
    promote,
    settle,
    describe,
    UNREAD,
  } = blocks
  const ONE = ':bookId'
  const parameter = (name) => `:${name}`
  const ownBook = isInSet('books', ONE)
  const isOfBook = `bookStatus <> 'YET' and ${currentId()} = :readingId`

  const START = [describe.start(parameter), 'archivedStart = null']
  const END = [describe.end(parameter), 'archivedEnd = null']

  const patchBook = (patch) => {
    const { bookStatus } = patch
    const sets = Object.keys(patch).map((name) => `${name} = :${name}`)
    // DONE means finished.
    if (bookStatus && bookStatus !== 'YET') sets.push(`isStopped = iif(bookStatus = 'DONE', isStopped, 0)`)
    const change = sets.length ? [`update books set ${sets.join(', ')} where ${ownBook}`] : []
    if (!bookStatus) return change
    const traceless = `update books set readingId = ${LAST} + 1, ${CLEAR}
      where ${ownBook} and bookStatus = 'ING' and not ${isRefined('books')}`
    const refined = `(${bookStatus === 'YET'} and exists (select 1 from books r where r.bookId = c.bookId and ${isRefined('r')}))`
    const archive = [
      ...(bookStatus === 'YET' ? [traceless] : []),
      keep(ONE, `(c.outcome is not null or ${refined}) and ${hasRoom('c')}`),
      renew(keptOf(ONE)),
    ]
    const [start, end] = ['readStartDate', 'readEndDate'].map(
      (name) => `substr(${patch[name] === undefined ? `books.${name}` : `:${name}`}, 1, 10)`,
    )
    const wasGivenUp = `bookStatus = 'YET' and p.outcome = 'STOPPED' and p.finishedAt is null`
    const isUndone =
      bookStatus === 'DONE'
        ? `bookStatus <> 'DONE' and ${end} is archivedEnd and (p.outcome = 'FINISHED' or ${wasGivenUp})`
        : wasGivenUp
    // restore: status and dates are again those of the reading that was archived, so it was only put back.
    const restore = [
      `update books set bookStatus = :bookStatus, ${taken('false')} from readings as p
       where ${ownBook} and p.readingId = archivedId and not ${isRefined('books')} and ${start} is archivedStart and ${isUndone}`,
    ]
    return [
      ...(bookStatus === 'DONE' || broken('archive') ? [] : archive),
      ...(bookStatus === 'YET' || broken('restore') ? [] : restore),
      ...change,
    ]
  }

  const isLater = `coalesce(:finishedAt, :startedAt, '') > coalesce(c.finishedAt, c.startedAt, '')`
  const createEnded = [
    keep(ONE, `c.outcome is not null and (${isLater} or (${isOvertaken})) and ${hasRoom('c')}`),
    `${insertPast} select ${LAST} + 1, memberId, bookId, :startedAt, :finishedAt, :outcome, :quarters, :note
     from books where ${ownBook} and (${isKept} or ${hasRoom('books')})`,
    // The row before was inserted, and not refused.
    promote(ONE, `changes() = 1 and (${isKept} or bookStatus = 'YET')`),
  ]
  const createOpen = [
    keep(ONE, `c.outcome is not null and ${hasRoom('c')}`),
    `update books set ${describe.all(parameter)},
       readingId = iif(${isKept}, ${LAST} + 1, readingId)
     where ${ownBook} and (${isKept} or (bookStatus = 'YET' and ${hasRoom('books')}))`,
  ]

  /** What of a reading is sent, as columns of its book. What is not sent stays, hidden dates included. */
  const updateReading = (patch) => {
    const names = Object.keys(patch).filter((name) => name !== 'readingId')
    const isSent = (name) => names.includes(name)
    const sets = [
      ...(isSent('startedAt') ? START : []),
      ...(isSent('outcome') ? END : []),
      ...(isSent('quarters')
        ? [`star = coalesce(${stars(':quarters')}, 0), quarters = :quarters, archivedStar = null`]
        : []),
      ...(isSent('note') ? ['note = :note'] : []),
    ]
    const ofPast = names.filter((name) => name !== 'isPaused').map((name) => `${name} = :${name}`)
    const isPast = 'readingId = :readingId and memberId = :memberId'
    return [
      `update books set ${sets.join(', ')} where ${ownBook} and ${isOfBook}`,
      ...(patch.outcome === null ? [] : [`update readings set ${ofPast.join(', ')} where ${isPast}`]),
      ...(isSent('startedAt') || isSent('outcome') ? settle(ONE) : []),
    ]
  }

  const deleteReading = [
    promote(ONE, isOfBook),
    `update books set ${UNREAD} where ${ownBook} and ${isOfBook}`,
    'delete from readings where readingId = :readingId and memberId = :memberId',
    `update books set ${UNARCHIVED} where ${ownBook} and archivedId = :readingId`,
  ]

  return {
    patchBook,
    createReading: ({ outcome }) => (outcome ? createEnded : createOpen),
    updateReading,
    deleteReading: () => deleteReading,
  }
}
