import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { ApiError, quotaExceeded } from '../errors'
import type { Quotas } from '../values/quotas'
import { DAY_MS } from '../values/time'
import { callerId, isCaller } from './caller'
import { firstRow, idempotent, type Statement, sqlStatement, type Values } from './client'

/** An `Idempotency-Key` and the request that it was sent with, as 16 bytes of SHA-256 each, in hex. */
export type RequestKey = {
  keyHash: string
  requestHash: string
  /** Set if the response shows what an earlier request created. */
  isReplayed?: true
}

const isKey = sql`idempotencyKeys.memberId = ${callerId} and idempotencyKeys.keyHash = unhex(:keyHash)`
// Members cannot delete keys, so access tokens may use only half of them: the rest is left to sessions.
const keyLimit = sql`iif(:callerTokenHash is null, :MAX_IDEMPOTENCY_KEYS, cast(:MAX_IDEMPOTENCY_KEYS / 2 as integer))`
/** Whether the key of the request is new and has room. Follows other conditions. */
export const isUnused = sql`
  and not exists (select 1 from idempotencyKeys where ${isKey})
  and (select keyCount from members where ${isCaller}) < ${keyLimit}`
/** Stores the key of what the statement before it created. */
const insertKey = (id: SQL) => sqlStatement`
  insert into idempotencyKeys (memberId, keyHash, requestHash, id, name, day)
  select ${callerId}, unhex(:keyHash), unhex(:requestHash), ${id}, :name, :day where changes() = 1`

/** `isSameRequest`: null if the key is unused. `isLeft`: whether what was created still exists. */
type Used<Row> = Row & { keyCount: number; keyLimit: number; isSameRequest: number | null; isLeft: number }

/** `id`: selects the identifier of what was just created. The others refer to the row of its key. */
type Created = { id: SQL; columns: SQL; isLeft: SQL; join?: SQL }
const lastInserted = sql.raw('last_insert_rowid()')
/** The row of a table, by default with the identifier of the key. */
export const rowOf = (id: SQLiteColumn, columns: SQL, isCreated = sql`${id} = idempotencyKeys.id`): Created => ({
  id: lastInserted,
  columns,
  isLeft: sql`${id} is not null`,
  join: sql`left join ${id.table} on ${isCreated}`,
})

/** Selects what the key of the request created, if it is used. @param condition follows others on the member */
export const selectUsed = <Row>({ columns, isLeft, join = sql`` }: Created, condition = sql``) =>
  sqlStatement<Used<Row>>`
    select keyCount, ${keyLimit} as keyLimit, requestHash = unhex(:requestHash) as isSameRequest, ${isLeft} as isLeft,
      ${columns}
    from (select keyCount from members where ${isCaller} ${condition})
      left join idempotencyKeys on ${isKey} ${join}`

/** Prepares an insert that, with a key, inserts only once. The WHERE of `insert` ends with the condition. */
export const insertOnce = <Row, Found = Row>(
  insert: (condition: SQL) => (values: Values) => Statement<Row>,
  created: Created,
) => {
  const [insertAlways, insertIfUnused, storeKey] = [insert(sql``), insert(isUnused), insertKey(created.id)]
  // Nothing if the statement before it has just stored the key.
  const selectIfUsed = selectUsed<Found>(created, sql`and changes() = 0`)
  /** Statements of a batch, which run one after the other. */
  return (values: Values, key: RequestKey | undefined, { MAX_IDEMPOTENCY_KEYS }: Quotas) => {
    if (!key) return { created: firstRow(insertAlways(values)) }
    const stored = { name: null, ...values, ...key, day: Math.floor(Date.now() / DAY_MS), MAX_IDEMPOTENCY_KEYS }
    return {
      created: firstRow(idempotent(insertIfUnused(stored))),
      stored: idempotent(storeKey(stored)),
      used: firstRow(selectIfUsed(stored)),
    }
  }
}

/**
 * What an earlier request with the same key created, as it is now. Undefined without a key, or if it is unused.
 * @throws IDEMPOTENCY_KEY_REUSED, CREATED_AND_DELETED; MAX_IDEMPOTENCY_KEYS when that quota is full
 */
export const findCreated = <Row>(used: Used<Row> | undefined, key: RequestKey | undefined, quotas: Quotas) => {
  if (!used || !key) return undefined
  const { keyCount, keyLimit, isSameRequest, isLeft, ...row } = used
  if (isSameRequest === null) {
    if (keyCount < keyLimit) return undefined
    throw quotaExceeded('MAX_IDEMPOTENCY_KEYS', { ...quotas, MAX_IDEMPOTENCY_KEYS: keyLimit })
  }
  if (!isSameRequest) throw new ApiError('IDEMPOTENCY_KEY_REUSED')
  if (!isLeft) throw new ApiError('CREATED_AND_DELETED')
  key.isReplayed = true
  return row as unknown as Row
}

const KEPT_DAYS = 400
/** A round of sweeps reads the rows of one range of members. After this many rounds, all ranges have been read. */
const RANGES = 168
const rangeSize = sql`(((select max(memberId) from members) - :idFloor) / ${sql.raw(String(RANGES))} + 1)`
/** Matches the members of the parameter `range`: `rangeOf` a round. */
export const isMemberOfRound = sql`
  memberId > :idFloor + :range * ${rangeSize} and memberId <= :idFloor + (:range + 1) * ${rangeSize}`
export const rangeOf = (round: number) => round % RANGES
const deleteKeys = sqlStatement`
  delete from idempotencyKeys where (memberId, keyHash) in (
    select memberId, keyHash from idempotencyKeys where ${isMemberOfRound} and day < :before limit :limit
  )`
export const deleteOldKeys = (now: number, round: number, limit: number) =>
  deleteKeys({
    range: rangeOf(round),
    before: Math.floor(now / DAY_MS) - KEPT_DAYS,
    limit,
  })
