import { setTimeout as wait } from 'node:timers/promises'
import type { D1Database, R2Bucket, R2ListOptions, R2Objects } from '@cloudflare/workers-types'
import { resetStatistics as resetOfMember } from '../../src/devices/statistics/reset.ts'
import { MARKS } from '../../src/values/marks.ts'
import { HOUR_MS, localTime } from '../../src/values/time.ts'
import { asMember } from '../members/as-member.ts'
import { type OpenSlot, queryAll } from '../slots/compare.ts'
import { idsOf } from '../slots/table.ts'
import { repeatUnsent } from '../wrangler/repeat-unsent.ts'
import { forEachAtOnce } from './at-once.ts'

// Compares the objects in the bucket with the rows that should name them.

const PAGE = 1000
const IMAGE_KEY = /^images\/([1-9]\d{0,15})\/([\w-]{22}\.(?:png|jpg|gif|webp))$/

/** The latest `createdAt` of members who existed at a time: the hour in which clocks are set back comes twice. */
export const lastSignUp = (timeZone: string, at: number) => {
  const time = localTime(timeZone, at)
  return time === localTime(timeZone, at - HOUR_MS) ? `${time.slice(0, 13)}:59:59` : time
}

/** The fields of the row that an image in the bucket should have; undefined for other objects. */
const toRow = ({ key, size, uploaded, httpMetadata }: R2Objects['objects'][number], timeZone: string) => {
  const [, memberId, name] = IMAGE_KEY.exec(key) ?? []
  const type = httpMetadata?.contentType
  if (!memberId || !name || !type) return undefined
  const at = uploaded.getTime()
  const createdAt = localTime(timeZone, at)
  return { memberId: Number(memberId), name, type, bytes: size, createdAt, lastSignUp: lastSignUp(timeZone, at) }
}

type Progress = (checked: number) => void

/** Yields all objects in pages. @param progress called after each page with the number of objects so far */
export async function* listObjects(bucket: R2Bucket, options: R2ListOptions, progress: Progress = () => {}) {
  let page: R2Objects | undefined
  let checked = 0
  do {
    const next = page?.truncated ? { ...options, cursor: page.cursor } : options
    page = await repeatUnsent(() => bucket.list(next))
    yield page.objects
    checked += page.objects.length
    progress(checked)
  } while (page.truncated)
}

/**
 * Adds a row for each image that has none, to the database that has its member. Skips images of withdrawn members, and
 * those uploaded before the member signed up: a restore lost the member who had the identifier.
 * @param timeZone that of the service
 * @param progress called after each page of objects with the number checked so far
 */
export const addMissingRows = async (slots: OpenSlot[], bucket: R2Bucket, timeZone: string, progress: Progress) => {
  const insert = `
    insert into images (imageId, memberId, name, type, bytes, createdAt)
    select coalesce((select max(imageId) from images where imageId between ?2 and ?3), ?2) + row_number() over (),
      members.memberId, value ->> 'name', value ->> 'type', value ->> 'bytes', value ->> 'createdAt'
    from json_each(?1) join members on members.memberId = value ->> 'memberId'
    where withdrawnAt is null and members.createdAt <= value ->> 'lastSignUp'
    on conflict do nothing
    returning imageId`
  let added = 0
  for await (const objects of listObjects(bucket, { include: ['httpMetadata'] }, progress)) {
    const rows = JSON.stringify(objects.map((each) => toRow(each, timeZone)).filter((row) => row !== undefined))
    for (const { slot, database } of slots) {
      const { first, last } = idsOf(slot)
      added += (await database.prepare(insert).bind(rows, first, last).all()).results.length
    }
  }
  return added
}

const isKept = (table: string) =>
  `not exists (select 1 from members where members.memberId = ${table}.memberId and withdrawnAt is not null)`

/** Yields the keys that the rows of a database name, in pages. */
async function* listKeys(database: D1Database) {
  const select = database.prepare(`select imageId, 'images/' || memberId || '/' || name as key from images
    where imageId > ? and ${isKept('images')} order by imageId limit ${PAGE}`)
  let last = 0
  for (;;) {
    const { results } = await select.bind(last).all<{ imageId: number; key: string }>()
    yield results.map(({ key }) => key)
    if (results.length < PAGE) break
    last = results.at(-1)?.imageId ?? last
  }
  const files = (folder: string, table: string, column: string) =>
    `select '${folder}/' || memberId || '/' || ${column} as key from ${table} where ${column} is not null and ${isKept(table)}`
  const others = [
    files('imports', 'imports', 'file'),
    files('statistics', 'statisticsFiles', 'file'),
    files('statistics', 'statisticsFiles', 'missing'),
  ].join(' union all ')
  yield (await database.prepare(others).all<{ key: string }>()).results.map(({ key }) => key)
}

const ROW = `
  select 1 from images where 'images' = ?1 and memberId = ?2 and name = ?3
  union all select 1 from imports where 'imports' = ?1 and memberId = ?2 and file = ?3
  union all select 1 from statisticsFiles where 'statistics' = ?1 and memberId = ?2 and ?3 in (file, missing)`
/** The folder, the member and the name in a key. */
const parse = (key: string) => {
  const [folder, memberId, name = ''] = key.split('/')
  return [folder, Number(memberId), name] as const
}

/** What the bucket and the rows do not agree on: keys of objects without a row, and those of rows without an object. */
export type Orphans = { objects: string[]; rows: string[] }

/**
 * Finds objects without a row, and rows without an object. Skips members who are about to be purged.
 * @param settleMs how long to wait before another look at what was found, as an upload writes the row and the object one after the other
 */
export const findOrphans = async (
  databases: D1Database[],
  bucket: R2Bucket,
  { progress = () => {}, settleMs = 0 }: { progress?: Progress; settleMs?: number } = {},
): Promise<Orphans> => {
  const unnamed = new Set<string>()
  for await (const objects of listObjects(bucket, {}, progress))
    for (const { key } of objects) if (!key.startsWith(MARKS)) unnamed.add(key)
  const missing: string[] = []
  const purged = new Set<number>()
  for (const database of databases) {
    for await (const keys of listKeys(database)) missing.push(...keys.filter((key) => !unnamed.delete(key)))
    const jobs = await database.prepare('select memberId from purgeJobs').all<{ memberId: number }>()
    for (const { memberId } of jobs.results) purged.add(memberId)
  }
  const found = [...unnamed, ...missing].filter((key) => !purged.has(parse(key)[1]))
  const orphans: Orphans = { objects: [], rows: [] }
  if (found.length > 0) await wait(settleMs)
  await forEachAtOnce(found, async (key) => {
    const rows = await Promise.all(databases.map((database) => queryAll(database, ROW, ...parse(key))))
    const [hasRow, hasObject] = [rows.flat().length > 0, (await bucket.head(key)) !== null]
    if (hasObject && !hasRow) orphans.objects.push(key)
    if (hasRow && !hasObject) orphans.rows.push(key)
  })
  return orphans
}

/** Deletes the rows of images by the keys of their objects. */
export const deleteImageRows = async (databases: D1Database[], keys: string[]) => {
  const remove = `delete from images where (memberId, name) in (select value ->> 0, value ->> 1 from json_each(?))`
  for (let at = 0; at < keys.length; at += PAGE) {
    const rows = JSON.stringify(keys.slice(at, at + PAGE).map((key) => parse(key).slice(1)))
    for (const database of databases) await database.prepare(remove).bind(rows).run()
  }
}

/**
 * Deletes the reading statistics of members by the keys of lost objects of them: the next upload counts all of it again.
 * @param slots with the databases of these members
 */
export const resetStatistics = async (slots: OpenSlot[], bucket: R2Bucket, keys: string[]) => {
  for (const memberId of new Set(keys.map((key) => parse(key)[1]))) {
    const home = slots.find(({ slot }) => idsOf(slot).first <= memberId && memberId <= idsOf(slot).last)
    if (!home) continue
    const { db, caller } = asMember({ ...home, memberId })
    await resetOfMember(db, caller, bucket)
  }
}

/** Deletes objects of reading statistics that no row names: an upload was interrupted before its row was written. */
export const deleteUnnamed = async (bucket: R2Bucket, keys: string[]) => {
  for (let at = 0; at < keys.length; at += PAGE) await bucket.delete(keys.slice(at, at + PAGE))
}

/**
 * Deletes those objects that belong to members of these slots. Returns the others. A slot without members may not be
 * the restored one: it keeps its objects.
 */
export const deleteObjects = async (slots: OpenSlot[], bucket: R2Bucket, keys: string[]) => {
  const deleted = new Set<string>()
  for (const { slot, database } of slots) {
    if ((await database.prepare('select 1 from members limit 1').first()) === null) continue
    const { first, last } = idsOf(slot)
    const own = keys.filter((key) => parse(key)[1] >= first && parse(key)[1] <= last)
    for (let at = 0; at < own.length; at += PAGE) await bucket.delete(own.slice(at, at + PAGE))
    for (const key of own) deleted.add(key)
  }
  return keys.filter((key) => !deleted.has(key))
}
