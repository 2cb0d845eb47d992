import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { R2Bucket } from '@cloudflare/workers-types'
import { forEachAtOnce } from '../data/at-once.ts'
import { listObjects } from '../data/objects.ts'
import { repeatUnsent } from '../wrangler/repeat-unsent.ts'
import { type StoredObject, sha256 } from './manifest.ts'

/** Longer names are hashed. */
const MAX_NAME = 80

/** The path of an object within a backup. No file system refuses it. */
export const pathOfObject = (key: string) => {
  const segments = key
    .split('/')
    .map((segment) => (segment.length > MAX_NAME ? sha256(segment) : encodeURIComponent(segment)))
  if (segments.some((segment) => /^\.{0,2}$/.test(segment))) throw new Error(`${key}: no file can have this name`)
  return ['objects', ...segments].join('/')
}

const save = async (bucket: R2Bucket, folder: string, key: string): Promise<StoredObject | undefined> => {
  const object = await bucket.get(key)
  if (!object) return undefined
  const content = new Uint8Array(await object.arrayBuffer())
  const path = join(folder, pathOfObject(key))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, content, { mode: 0o600 })
  const httpMetadata = JSON.parse(JSON.stringify(object.httpMetadata ?? {}))
  return { key, bytes: content.length, sha256: sha256(content), httpMetadata }
}

type Progress = (count: number) => void

/** Copies the objects that are not in `saved` to a folder. Returns the keys of all objects. */
export const saveObjects = async (
  bucket: R2Bucket,
  folder: string,
  saved: Map<string, StoredObject>,
  progress: Progress,
) => {
  const found = new Set<string>()
  for await (const objects of listObjects(bucket, {}, progress)) {
    for (const { key } of objects) found.add(key)
    const added = objects.filter(({ key }) => !saved.has(key))
    await forEachAtOnce(added, async ({ key }) => {
      const object = await repeatUnsent(() => save(bucket, folder, key))
      if (object) saved.set(key, object)
    })
  }
  return found
}

/** Removes images that were deleted while the backup was written. A file may still be named by a row that it has. */
export const forgetDeleted = (folder: string, saved: Map<string, StoredObject>, found: Set<string>) => {
  for (const key of saved.keys()) {
    if (found.has(key) || !key.startsWith('images/')) continue
    saved.delete(key)
    rmSync(join(folder, pathOfObject(key)))
  }
}

/** Stores the objects that a bucket lacks. R2 refuses content with another hash. */
export const putObjects = async (bucket: R2Bucket, folder: string, objects: StoredObject[], progress: Progress) => {
  const sizes = new Map<string, number>()
  for await (const page of listObjects(bucket, {})) for (const { key, size } of page) sizes.set(key, size)
  const missing = objects.filter(({ key, bytes }) => sizes.get(key) !== bytes)
  let count = 0
  await forEachAtOnce(missing, async ({ key, httpMetadata, sha256 }) => {
    const content = readFileSync(join(folder, pathOfObject(key)))
    await repeatUnsent(() => bucket.put(key, content, { httpMetadata, sha256 }))
    count += 1
    if (count % 1000 === 0) progress(count)
  })
  return missing.length
}
