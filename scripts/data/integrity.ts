import type { D1Database } from '@cloudflare/workers-types'
import { fieldsOf } from '../../src/values/book-fields.ts'
import { BLOCK_PRICE, BOOK_PRICE, NOTE_PRICE, PRICED_ROWS, textPrice, trashPrice } from '../../src/values/prices.ts'
import { checkAside } from '../members/block.ts'
import { idsOf } from '../slots/table.ts'
import { repeatUnsent } from '../wrangler/repeat-unsent.ts'

// Compares everything the database derives from its rows (counters, positions, copied owners) with the rows.

const BOOKS_PER_STEP = 5000

/** A stored value that differs from the one computed from the rows. */
export type Mismatch = { table: string; id: number | string; field: string; expected: unknown; found: unknown }

/** A checkFields of the rows of members runs once for each range of members. */
const isInRange = 'memberId between :first and :last'
/** The rows of withdrawn members are being deleted, and their counters are no longer kept. */
const isActive = `${isInRange} and memberId not in (select memberId from members where ${isInRange} and withdrawnAt is not null)`

/** Selects the rows whose `field` differs from the SQL expression `expected`; the row is named `stored` in it. */
const checkField = (table: string, id: string, field: string, expected: string) => `
  select '${table}' as "table", ${id} as id, '${field}' as field, expected, found
  from (select ${id}, ${field} as found, (${expected}) as expected from ${table} as stored where ${isActive})
  where expected is not found`

/** A check for each column: the stored value against an SQL expression. */
const checkFields = (table: string, id: string, columns: Record<string, string>) =>
  Object.entries(columns).map(([field, expected]) => checkField(table, id, field, expected))

// FROM clauses of the rows that belong to the checked one.
const ofMember = (table: string) => `from ${table} where ${table}.memberId = stored.memberId`
const ofBook = (table: string) => `${ofMember(table)} and ${table}.bookId = stored.bookId`
const MEMOS = 'from memos where memos.bookId = stored.bookId'

/** The details of a book belong to its owner. */
const OWNER = { memberId: 'select memberId from books where books.bookId = stored.bookId' }

/** Identifiers are never reused: no row may have a retired one. */
const checkRetired = (table: string, id: string) => `
  select '${table}' as "table", ${id} as id, '${id}' as field, 'above ' || retiredIds.id as expected, ${id} as found
  from ${table} join retiredIds on tableName = '${table}' and retiredIds.id = ${id}`

const isLiveUndo = `expiresAt > unixepoch('subsec') * 1000`
/** Finds live undos of changes of e-mail address that must not exist beside another row. */
const checkUndos = (field: string, expected: string, other: string) => `
  select 'emailUndos' as "table", undoId as id, '${field}' as field, '${expected}' as expected, 'another' as found
  from emailUndos as stored where ${isLiveUndo} and ${isActive} and exists (${other})`

const checkTag = (table: string, id: string) => `
  select '${table}' as "table", ${id} as id, 'tagId' as field, 'a tag' as expected, tagId as found
  from ${table} as stored where ${isActive} and tagId is not null and not exists (
    select 1 ${ofMember('tags')} and tags.tagId = stored.tagId
  )`

const PARTS = `${ofMember('trashParts')} and trashParts.bookId = stored.trashId`
const MEMO_BYTES = `select coalesce(sum(octet_length(memoContent)), 0) ${MEMOS}`
const TEXT_BYTES = `(
  select coalesce(sum(${BOOK_PRICE} + memoBytes + ${NOTE_PRICE} * memoCount + ${BLOCK_PRICE} * eventBlocks + ${textPrice(fieldsOf('text'))}), 0)
  ${ofMember('books')}
) + (select coalesce(sum(${NOTE_PRICE} + octet_length(concat(note))), 0) ${ofMember('readings')})
  + (select coalesce(sum(blocks), 0) * ${BLOCK_PRICE} ${ofMember('tags')})
  + (select coalesce(sum(bytes), 0) ${ofMember('trash')})
  + (select coalesce(sum(sittings / ${PRICED_ROWS}), 0) * ${BLOCK_PRICE} ${ofMember('statisticsFiles')})`
/** Compare the sizes of texts with their counters. */
export const TEXT_CHECKS = [
  checkField('books', 'bookId', 'memoBytes', MEMO_BYTES),
  checkField('members', 'memberId', 'textBytes', TEXT_BYTES),
]

/** One SELECT per invariant; each returns its mismatches. */
const CHECKS = [
  ...checkFields('books', 'bookId', {
    memberId: 'select memberId from members where members.memberId = stored.memberId',
    memoCount: `select count(*) ${MEMOS}`,
    contentMemos: `select count(*) ${MEMOS} and memoType = 'BOOK_CONTENT'`,
    summaryMemos: `select count(*) ${MEMOS} and memoType = 'SUMMARY'`,
    thoughtMemos: `select count(*) ${MEMOS} and memoType = 'THOUGHT'`,
    questionMemos: `select count(*) ${MEMOS} and memoType = 'QUESTION'`,
    hasMemos: `exists (select 1 ${MEMOS})`,
    lastMemoId: `select max(memoId) ${MEMOS}`,
    memoBytes: MEMO_BYTES,
    eventBlocks: `select count(*) / ${PRICED_ROWS} ${ofBook('progress')}`,
    currentPage: `select coalesce((select page ${ofBook('progress')} order by at desc limit 1), stored.currentPage)`,
  }),
  ...checkFields('members', 'memberId', {
    yetBooks: `select count(*) ${ofMember('books')} and bookStatus = 'YET'`,
    ingBooks: `select count(*) ${ofMember('books')} and bookStatus = 'ING'`,
    doneBooks: `select count(*) ${ofMember('books')} and bookStatus = 'DONE'`,
    finishedBooks: `select count(*) ${ofMember('books')} and bookStatus = 'DONE' and readEndDate is not null`,
    undatedBooks: `select count(*) from currentReadings where memberId = stored.memberId and outcome = 'FINISHED' and finishedAt is null`,
    memoBooks: `select count(*) ${ofMember('books')} and exists (select 1 from memos where memos.bookId = books.bookId)`,
    textBytes: TEXT_BYTES,
    keyCount: `select count(*) ${ofMember('idempotencyKeys')}`,
    imageCount: `select count(*) ${ofMember('images')}`,
    imageBytes: `(select coalesce(sum(bytes), 0) ${ofMember('images')})
      + (select coalesce(sum(bytes + missingBytes), 0) ${ofMember('statisticsFiles')})`,
  }),
  // In both directions: each row has books, and each book with an author has a row. The + lets SQLite use
  // books_by_author.
  ...checkFields('authors', 'authorKey', {
    bookCount: `select nullif(count(*), 0) ${ofMember('books')} and author is not null
      and coalesce(authorFolded, lower(author)) = +stored.authorKey`,
  }),
  `select 'books' as "table", bookId as id, 'author' as field, 'a row of authors' as expected, author as found
  from books as stored where author is not null and ${isActive} and not exists (
    select 1 ${ofMember('authors')} and authorKey = coalesce(stored.authorFolded, lower(stored.author))
  )`,
  ...checkFields('tags', 'tagId', {
    // One without books stays while a link shows it.
    bookCount: `select coalesce(nullif(count(*), 0), (
      select 0 ${ofMember('accessTokens')} and accessTokens.tagId = stored.tagId
    )) ${ofMember('bookTags')} and bookTags.tagId = stored.tagId`,
    blocks: `max(stored.blocks, stored.bookCount / ${PRICED_ROWS})`,
  }),
  ...checkFields('progress', 'bookId', {
    ...OWNER,
    total: `select iif(exists (
      select 1 from progress as later
      where later.memberId = stored.memberId and later.bookId = stored.bookId and later.at > stored.at
    ), stored.total, (select count(*) ${ofBook('progress')}))`,
  }),
  `select 'readings' as "table", readingId as id, 'readingId' as field, 'that of no book' as expected, readingId as found
  from readings where ${isActive} and exists (
    select 1 from books where books.bookId = readings.bookId and coalesce(books.readingId, books.bookId) = readings.readingId
  )`,
  ...checkFields('readings', 'readingId', OWNER),
  ...checkFields('bookTags', 'bookId', OWNER),
  ...checkFields('memos', 'memoId', OWNER),
  ...checkFields('trash', 'trashId', {
    parts: `select count(*) ${PARTS}`,
    bytes: trashPrice('stored.data', 'parts', `(select coalesce(sum(octet_length(data)), 0) ${PARTS})`),
    // What is in the trash is not in the library, and its identifier is not that of anything else.
    trashId: `iif(
      exists (select 1 from books where books.bookId = stored.trashId)
        or exists (select 1 from memos where memos.memoId = -stored.trashId), 'that of nothing in the library', stored.trashId
    )`,
  }),
  ...checkFields('documents', 'document', {
    bookId: `iif(exists (
      select 1 from books where books.bookId = stored.bookId and books.memberId <> stored.memberId
    ), 'that of no other member', stored.bookId)`,
    seconds: `select coalesce(sum(seconds), 0) ${ofMember('sittings')} and sittings.document = stored.document`,
  }),
  ...checkFields('sittings', 'document', {
    document: `select document ${ofMember('documents')} and documents.document = stored.document`,
  }),
  ...checkFields('statisticsFiles', 'memberId', { sittings: `select count(*) ${ofMember('sittings')}` }),
  ...checkFields('positions', 'document', {
    document: `select document ${ofMember('documents')} and documents.document = stored.document`,
  }),
  ...checkFields('trashParts', 'partId', { bookId: 'select trashId from trash where trashId = stored.bookId' }),
  checkTag('bookTags', 'bookId'),
  checkTag('accessTokens', 'memberId'),
  `select 'memos' as "table", memoId as id, 'position' as field, expected, found
  from (
    select memoId, position as found, row_number() over (partition by memberId order by position) as expected
    from memos where ${isActive}
  )
  where expected <> found`,
  checkRetired('books', 'bookId'),
  checkRetired('memos', 'memoId'),
  checkRetired('readings', 'readingId'),
  ...checkFields('imports', 'importId', {
    done: `iif(stored.isDeleted, stored.done, (
      select count(*) ${ofMember('importRows')} and importRows.importId = stored.importId
    ))`,
  }),
  ...checkFields('imports', 'importId', { done: 'created + updated + unchanged + skipped + failed' }),
  checkAside('sessions', 'sessionId', isActive),
  checkAside('accessTokens', 'tokenHash', isActive),
  checkUndos(
    'email',
    'an address used before the present one and those of later undos',
    `select 1 from members where members.memberId = stored.memberId and lower(members.email) = lower(stored.email)
    union all select 1 from emailUndos as later where later.memberId = stored.memberId and later.undoId > stored.undoId
      and lower(later.email) = lower(stored.email)`,
  ),
  checkUndos(
    'expiresAt',
    'before those of later undos',
    `select 1 from emailUndos as later
    where later.memberId = stored.memberId and later.undoId > stored.undoId and later.expiresAt <= stored.expiresAt`,
  ),
  `select 'members' as "table", memberId as id, 'withdrawnAt' as field, 'a purge job' as expected, withdrawnAt as found
  from members where ${isInRange} and withdrawnAt is not null and memberId not in (select memberId from purgeJobs)`,
  `select 'members' as "table", memberId as id, 'memberId' as field, 'at most ' || seq as expected, memberId as found
  from sqlite_sequence cross join members on memberId > seq where sqlite_sequence.name = 'members'`,
]

/** A row with an identifier of another slot came from another database. */
const checkRange = (slot: number) => (table: string, id: string) =>
  `
  select '${table}' as "table", ${id} as id, '${id}' as field, 'of slot ${slot}' as expected, ${id} as found
  from ${table} where ${id} < ${idsOf(slot).first}
  union all
  select '${table}', ${id}, '${id}', 'of slot ${slot}', ${id} from ${table} where ${id} > ${idsOf(slot).last}`

/** Those of memos are negative. */
const checkTrashRange = (slot: number) => {
  const { first, last } = idsOf(slot)
  const outside = [`> ${last}`, `between 1 and ${first - 1}`, `between ${1 - first} and -1`, `< ${-last}`]
  const queries = outside.map(
    (
      condition,
    ) => `select 'trash' as "table", trashId as id, 'trashId' as field, 'of slot ${slot}' as expected, trashId as found
    from trash where trashId ${condition}`,
  )
  return queries.join('\n  union all\n  ')
}

/** The queries of the checks of a database. */
export const checksOf = (slot: number) => {
  const checkIds = checkRange(slot)
  return [
    ...CHECKS,
    checkIds('members', 'memberId'),
    checkIds('books', 'bookId'),
    checkIds('memos', 'memoId'),
    checkIds('images', 'imageId'),
    checkIds('readings', 'readingId'),
    checkIds('trashParts', 'partId'),
    checkTrashRange(slot),
    `select 'operatorLog' as "table", entryId as id, 'slot' as field, 0 as expected, ${slot} as found
    from operatorLog where ${slot} > 0`,
  ]
}

/** The number of checks of a database. */
export const CHECK_COUNT = checksOf(0).length

/**
 * Yields ranges of members with about so many books, reading as many members at once. The last one has no end: it has
 * all rows without a member, too.
 */
export async function* listRanges(database: D1Database, books = BOOKS_PER_STEP) {
  const select = database.prepare(`
    with page as (
      select memberId, 1 + yetBooks + ingBooks + doneBooks as size from members where memberId >= ?1 order by memberId limit ?2
    ), counted as (
      select memberId, sum(size) over (order by memberId rows unbounded preceding) - size as sizeBefore from page
    ), step as (
      select max(memberId) as last from counted where sizeBefore < ?2
    )
    select last from step where exists (select 1 from members where memberId > last)`)
  for (let first = -Number.MAX_SAFE_INTEGER; ; ) {
    const last = await repeatUnsent(() => select.bind(first, books).first<number>('last'))
    yield { first, last: last ?? Number.MAX_SAFE_INTEGER }
    if (last === null) return
    first = last + 1
  }
}

type Options = { booksPerStep?: number; report?: (step: number) => void }

/**
 * Finds every counter, position, owner and identifier that does not match the rows, in steps that do not block a
 * database long.
 * @param slot the slot that the identifiers must be of; any if undefined
 */
export const findMismatches = async (
  database: D1Database,
  slot?: number,
  { booksPerStep, report = () => {} }: Options = {},
) => {
  const mismatches: Mismatch[] = []
  const checks = slot === undefined ? CHECKS : checksOf(slot)
  let step = 0
  for await (const { first, last } of listRanges(database, booksPerStep)) {
    const queries = checks
      .filter((query) => step === 0 || query.includes(':first'))
      .map((query) => query.replaceAll(':first', String(first)).replaceAll(':last', String(last)))
    const results = await repeatUnsent(() => database.batch<Mismatch>(queries.map((query) => database.prepare(query))))
    mismatches.push(...results.flatMap((result) => result.results))
    step += 1
    report(step)
  }
  return mismatches
}
