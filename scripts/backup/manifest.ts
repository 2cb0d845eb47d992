import { createHash, createHmac } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, readSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { readMigrations } from '../wrangler/migrate-local.ts'

// The manifest says what a backup consists of. It is written last, so a backup without one was interrupted.

export const MANIFEST = 'manifest.json'
/** Lists the objects of the bucket, one a line. */
export const OBJECTS = 'objects.jsonl'
/** Raise it when folders or digests change. */
const FORMAT = 1

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const Content = z.strictObject({ bytes: z.int(), sha256: Sha256 })
export type Content = z.infer<typeof Content>

const Body = z.strictObject({
  format: z.literal(FORMAT),
  /** Before the first database was read, in ISO 8601. */
  startedAt: z.iso.datetime(),
  commit: z.string(),
  migrations: z.record(z.string(), Sha256),
  /** The digests of the tables of each database. */
  databases: z.record(z.string(), z.record(z.string(), z.strictObject({ rows: z.int(), sha256: Sha256 }))),
  /** All files but this one and the objects. */
  files: z.record(z.string(), Content),
  /** The names of settings: variables, and secrets. */
  settings: z.array(z.string()),
  /** For each secret that a restore needs, a keyed check, which identifies it without revealing it. */
  secrets: z.record(z.string(), z.string()),
})
export type Manifest = z.infer<typeof Body>

export const StoredObject = z.strictObject({
  key: z.string(),
  ...Content.shape,
  httpMetadata: z.record(z.string(), z.string()),
})
export type StoredObject = z.infer<typeof StoredObject>

export const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')

const CHUNK_BYTES = 1_048_576

/** The size and hash of a file of any size. */
export const readContent = (path: string): Content => {
  const file = openSync(path, 'r')
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    const hash = createHash('sha256')
    let bytes = 0
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      hash.update(chunk.subarray(0, read))
      bytes += read
    }
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    closeSync(file)
  }
}

/** The hashes of the migrations by name. */
export const hashMigrations = () =>
  Object.fromEntries(readMigrations().map(({ name, statements }) => [name, sha256(statements.join(''))]))

/** A keyed check of a secret. */
export const checkOfSecret = (name: string, secret: string) =>
  createHmac('sha256', secret).update(`reading-library backup ${name}`).digest('hex')

export const writeManifest = (folder: string, manifest: Omit<Manifest, 'format'>) => {
  const body = { format: FORMAT, ...manifest }
  const path = join(folder, `${MANIFEST}.unfinished`)
  const file = openSync(path, 'wx', 0o600)
  writeSync(file, `${JSON.stringify({ ...body, sha256: sha256(JSON.stringify(body)) }, null, 2)}\n`)
  fsyncSync(file)
  closeSync(file)
  renameSync(path, join(folder, MANIFEST))
}

/** @throws Error that says what to do if the manifest is missing, damaged, or of another format */
export const readManifest = (folder: string): Manifest => {
  let text: string
  try {
    text = readFileSync(join(folder, MANIFEST), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`${folder} has no ${MANIFEST}: it is no backup, or was interrupted. Use another one`)
  }
  const damaged = new Error(`${MANIFEST} was cut or changed: use another copy of the backup`)
  let parsed: Record<string, unknown>
  try {
    parsed = JSON.parse(text)
  } catch {
    throw damaged
  }
  const { sha256: hash, ...body } = parsed
  if (hash !== sha256(JSON.stringify(body))) throw damaged
  if (body.format !== FORMAT)
    throw new Error(
      `The backup has format ${body.format}, not ${FORMAT}: restore it with its own commit, ${body.commit}`,
    )
  return Body.parse(body)
}
