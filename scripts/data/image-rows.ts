import type { D1Database, R2Bucket, R2Objects } from '@cloudflare/workers-types'

const KEY = /^images\/([1-9]\d{0,15})\/([\w-]{22}\.(?:png|jpg|gif|webp|avif))$/

/** The fields of the row that an image in the bucket should have; undefined for other objects. */
const toRow = ({ key, size, uploaded, httpMetadata }: R2Objects['objects'][number]) => {
  const [, memberId, name] = KEY.exec(key) ?? []
  const type = httpMetadata?.contentType
  if (!memberId || !name || !type) return undefined
  return { memberId: Number(memberId), name, type, bytes: size, createdAt: uploaded.toISOString().slice(0, 19) }
}

/**
 * Adds a row for each image that has none, to the database that has its member. Times are in UTC.
 * @param progress called after each page of objects with the number checked so far
 */
export const addMissingRows = async (
  databases: D1Database[],
  bucket: R2Bucket,
  progress: (checked: number) => void,
) => {
  const insert = `
    insert into images (memberId, name, type, bytes, createdAt)
    select members.memberId, value ->> 'name', value ->> 'type', value ->> 'bytes', value ->> 'createdAt'
    from json_each(?) join members on members.memberId = value ->> 'memberId'
    where withdrawnAt is null
    on conflict do nothing
    returning imageId`
  let [added, checked] = [0, 0]
  let page: R2Objects | undefined
  do {
    const include = { include: ['httpMetadata' as const] }
    page = await bucket.list(page?.truncated ? { ...include, cursor: page.cursor } : include)
    const rows = page.objects.map(toRow).filter((row) => row !== undefined)
    for (const database of databases) {
      added += (await database.prepare(insert).bind(JSON.stringify(rows)).all()).results.length
    }
    checked += page.objects.length
    progress(checked)
  } while (page.truncated)
  return { added, checked }
}
