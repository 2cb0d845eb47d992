import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { atPrimary, type Db, firstRow, idempotent, sqlStatement } from '../../db/client'
import { columnsOf, toJson } from '../../db/json'
import { ofBook, percent } from '../../db/own-book'
import { MAX_WHOLE_BYTES } from '../../db/parts'
import { currentId } from '../../db/schema/shown-reading'
import { ApiError } from '../../errors'
import { ofReading } from '../../library/readings/lookup'
import { fieldsOf } from '../../values/book-fields'
import { BOOK_STATUSES } from '../../values/contract'
import { type ChangesPosition, toCursor } from '../../values/cursor'
import { toInstant } from '../../values/fields'
import { toMinutes } from '../../values/time'
import { bookTextBytes } from '../book-columns'
import { memoJson, readingJson } from '../export/book-lists'
import type { Change, Changes } from './responses'
import type { ChangesQuery } from './schema'

// How snapshot, delta and cursor work: docs/decisions/0032-sync.md.

const ofEdition: string[] = fieldsOf('feed', 'detail')
const others = fieldsOf('feed').filter((name) => !ofEdition.includes(name))
/** Otherwise, SQLite reads all documents of the member for each book. */
const byBook = sql.raw('indexed by documents_by_book')
const bookJson = toJson({
  ...columnsOf('books', ['bookId', ...others]),
  edition: toJson({ ...columnsOf('books', ofEdition), sourceIds: sql.raw(`json(coalesce(sourceIds, '[]'))`) }),
  tagIds: sql`json((select json_group_array(tagId order by tagId) from bookTags where ${ofBook('bookTags')}))`,
  progress: sql`json_insert(coalesce((
    select json_object('count', total, 'latestAt', at, 'seconds', progress.seconds, 'percent', ${percent}) from progress where ${ofBook('progress')} order by at desc limit 1
  ), json_object('count', 0, 'latestAt', null, 'seconds', null, 'percent', null)), '$.deviceMinutes', (
    select coalesce(sum(seconds), 0) from documents ${byBook} where ${ofBook('documents')}
  ))`,
})

/** The names of CHANGE_KINDS by code, without START. The SQL below has the codes. */
const KINDS = { 1: 'book', 2: 'memo', 3: 'tag', 4: 'reading' } as const

/** Selects from the row of an object of the page. Null if it was deleted. */
const ofObject = (book: SQL, memo: SQL, tag: SQL, reading: SQL) => sql`case kind
  when 1 then (select ${book} from books where bookId = page.id and memberId = page.memberId)
  when 2 then (select ${memo} from memos where memoId = page.id and memberId = page.memberId)
  when 3 then (select ${tag} from tags where memberId = page.memberId and tagId = page.id)
  else ${ofReading(sql.raw('page.id'), reading, sql.raw('+memberId = page.memberId'))}
end`
const bytes = ofObject(
  bookTextBytes,
  sql.raw('octet_length(memoContent)'),
  sql.raw('octet_length(tag)'),
  sql.raw('octet_length(concat(note))'),
)
const memoWithVersion = sql`json_insert(${memoJson}, '$.bookId', bookId, '$.version', version)`
const tagJson = sql.raw(`json_object('tagId', tagId, 'tag', tag)`)
const readingOfBook = sql`json_insert(json_remove(${readingJson}, '$.createdAt'), '$.bookId', bookId)`
const value = ofObject(bookJson, memoWithVersion, tagJson, readingOfBook)

/** `key1` to `key3`: the order of the page. In a delta, `key1` is the entry; in a snapshot, the phase. */
type Row = {
  kind: keyof typeof KINDS
  id: number
  key1: number
  key2: number
  key3: number
  isCut: number
  value: string | null
}
/** Objects with their values, in any order. Once the page has MAX_WHOLE_BYTES of text, the rest is cut: without values. */
const selectPage = (objects: SQL, expressions = sql``) => sqlStatement<Row>`
  ${expressions} select kind, id, key1, key2, key3, isCut, iif(isCut, null, ${value}) as value from (
    select *, coalesce(
      sum(${bytes}) over (order by key1, key2, key3 rows between unbounded preceding and 1 preceding)
        >= ${sql.raw(String(MAX_WHOLE_BYTES))}, 0
    ) as isCut
    from (${objects}) as page
  ) as page`

/** Why an expression: db/parameters.ts. */
const size = sql`(:size + 0)`

/** The entries that a page considers. */
const MAX_ENTRIES = 500
// The log has no gaps. Each further stage of the query would cost an idle poll a row.
const selectDelta = selectPage(sql`
  select memberId, kind, id, max(seq) as key1, 0 as key2, 0 as key3 from (
    select memberId, kind, id, seq from changes
    where memberId = ${callerId} and seq > :seen and seq <= :seen + ${sql.raw(String(MAX_ENTRIES))}
  ) group by kind, id order by key1 limit ${size}`)

// The snapshot has six phases: tags, books of each of the three statuses with their current readings, past readings,
// memos. SQLite reads one after the other, each from its index, until the page is full. A cursor has the phase and the
// last identifiers.

const owner = sql.raw('(select id from caller)')
const inPhase = (number: number, select: (last: SQL, lastWithin: SQL, limit: SQL) => SQL) => {
  const phase = sql.raw(String(number))
  const isAt = sql`:phase = ${phase}`
  const limit = sql`iif(:phase <= ${phase}, :size, 0)`
  return sql`select *, ${phase} as key1 from (
    ${select(sql`iif(${isAt}, :last, 0)`, sql`iif(${isAt}, :lastWithin, 0)`, limit)} limit ${limit}
  )`
}
/** Each book, and then its current reading. */
const booksOf = (status: string, at: number) =>
  inPhase(
    at + 1,
    (last, lastWithin, limit) => sql`
      select memberId, iif(isReading, 4, 1) as kind, iif(isReading, ${sql.raw(currentId(''))}, bookId) as id, bookId as key2,
        isReading as key3
      from (
        select memberId, bookId, readingId, bookStatus from books
        where memberId = ${owner} and bookStatus = ${sql.raw(`'${status}'`)} and bookId >= ${last}
        order by bookId limit ${limit} + 1
      ) cross join (select 0 as isReading union all select 1)
      where (isReading = 0 or bookStatus <> 'YET') and (bookId > ${last} or isReading > ${lastWithin})
      order by bookId, isReading`,
  )
const PHASES = [
  inPhase(
    0,
    (last) => sql`select memberId, 3 as kind, tagId as id, tagId as key2, 0 as key3 from tags
      where memberId = ${owner} and tagId > ${last} order by tagId`,
  ),
  // D1 allows a SELECT five terms.
  sql`select * from (${sql.join(BOOK_STATUSES.map(booksOf), sql` union all `)})`,
  inPhase(
    4,
    (last, lastWithin) => sql`
      select memberId, 4 as kind, readingId as id, bookId as key2, readingId as key3 from readings
      where memberId = ${owner} and bookId >= ${last} and (bookId > ${last} or readingId > ${lastWithin})
      order by bookId, readingId`,
  ),
  inPhase(
    5,
    (last) => sql`select memberId, 2 as kind, memoId as id, memoId as key2, 0 as key3 from memos
      where memberId = ${owner} and memoId > ${last} order by memoId`,
  ),
]
const selectSnapshot = selectPage(
  sql`${sql.join(PHASES, sql` union all `)} limit ${size}`,
  sql`with caller(id) as materialized (select ${callerId})`,
)

/** `newest`: JSON of the number and the proof of the newest entry. `known`: the proof of the entry `:visible`. */
type Log = { newest: string | null; known: number | null; oldest: number | null }
/** As the guard of a batch. */
const selectLog = sqlStatement<Log>`
  select newest,
    iif(newest ->> 0 = :visible, newest ->> 1, (select proof from changes where memberId = ownerId and seq = :visible)) as known,
    iif(newest ->> 0 = :seen, :seen, (select min(seq) from changes where memberId = ownerId)) as oldest
  from (
    select ownerId, (select json_array(seq, proof) from changes where memberId = ownerId order by seq desc limit 1) as newest
    from (select ${callerId} as ownerId limit 1) limit 1
  ) where ownerId is not null`
const beginLog = sqlStatement`
  insert into changes (memberId, seq, kind, id, proof)
  select ownerId, 1, 0, 0, random() & 0xFFFFFFFFFFFF from (select ${callerId} as ownerId limit 1)
  where ownerId is not null and not exists (select 1 from changes where memberId = ownerId)`

const toChange = ({ kind, id, value: json }: Row): Change => {
  const value = json === null ? null : JSON.parse(json)
  const { progress } = value ?? {}
  if (progress) {
    if (progress.latestAt !== null) progress.latestAt = toInstant(progress.latestAt)
    progress.deviceMinutes = toMinutes(progress.deviceMinutes)
  }
  if (kind !== 2) return { kind: KINDS[kind], id, value }
  const { version = null, ...memo } = value ?? {}
  return { kind: 'memo', id, version, value: value && memo }
}

/** Of the same length for every proof. */
const toProof = (proof: number) => String(proof).padStart(15, '0')

const toPage = (rows: Row[], newest: string, { c, s }: ChangesPosition, size: number): Changes => {
  const [seq, proof] = JSON.parse(newest) as [number, number]
  const sent = rows
    .filter(({ isCut }) => !isCut)
    .toSorted((one, other) => one.key1 - other.key1 || one.key2 - other.key2 || one.key3 - other.key3)
  const last = sent.at(-1)
  const isFull = last !== undefined && (sent.length < rows.length || sent.length === size)
  const visible = { t: seq, p: toProof(proof) }
  const next: ChangesPosition = s
    ? { c, ...visible, s: isFull ? [last.key1, last.key2, last.key3] : undefined }
    : { c: last?.key1 ?? c, ...visible }
  return { item: sent.map(toChange), next: toCursor(next), hasMore: next.s !== undefined || seq > next.c }
}

/** The parameters of the statements: entries, and where a snapshot goes on. */
const toValues = ({ c, t, s: [phase, last, lastWithin] = [0, 0, 0] }: ChangesPosition, size: number) => {
  return { seen: c, visible: t, size, phase, last, lastWithin }
}

/** The first page of the first sync. The log begins in the same transaction. */
const startSync = async (db: Db, caller: Caller, size: number) => {
  const start: ChangesPosition = { c: 0, t: 0, p: toProof(0), s: [0, 0, 0] }
  const values = toValues(start, size)
  const { log, rows } = await runAsCaller(atPrimary(db), caller, {
    begun: idempotent(beginLog()),
    log: firstRow(selectLog(values)),
    rows: selectSnapshot(values),
  })
  if (!log?.newest) throw new Error('The log of changes did not begin')
  return toPage(rows, log.newest, { ...start, c: JSON.parse(log.newest)[0] }, size)
}

/**
 * A page of what has changed since the cursor, or of everything.
 * @throws RESYNC_REQUIRED when the log does not go back to the cursor, or is not the one that the cursor is from
 */
export const listChanges = async (db: Db, caller: Caller, { cursor, size }: ChangesQuery): Promise<Changes> => {
  if (!cursor) return startSync(db, caller, size)
  const values = toValues(cursor, size)
  const { guard, rows } = await runAsCaller(db, caller, {
    guard: selectLog(values),
    rows: (cursor.s ? selectSnapshot : selectDelta)(values),
  })
  const { newest, known, oldest } = guard
  const isProven = known === Number(cursor.p) && oldest !== null && oldest <= cursor.c + 1
  if (newest && isProven) return toPage(rows, newest, cursor, size)
  // A replica may not have the entry yet.
  if (db.isReplica) return listChanges(atPrimary(db), caller, { cursor, size })
  throw new ApiError('RESYNC_REQUIRED')
}
