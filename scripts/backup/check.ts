import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import {
  type Content,
  checkOfSecret,
  hashMigrations,
  MANIFEST,
  type Manifest,
  OBJECTS,
  readContent,
  readManifest,
  StoredObject,
} from './manifest.ts'
import { pathOfObject } from './objects.ts'

const MAX_LINES = 20

/** Ends a backup or a restore, with a line for each problem. */
export class BackupError extends Error {
  constructor(lines: string[]) {
    const more = lines.length > MAX_LINES ? [`and ${lines.length - MAX_LINES} more`] : []
    super([...lines.slice(0, MAX_LINES), ...more].join('\n'))
  }
}

/** The paths of all files in a folder, within it. */
export const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'))

const parseObjects = (folder: string) =>
  readFileSync(join(folder, OBJECTS), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => StoredObject.parse(JSON.parse(line)))

/** The outermost folder around a missing file that is missing, too; otherwise the file. */
const findMissing = (folder: string, path: string) => {
  const names = path.split('/')
  const folders = names.map((_, at) => names.slice(0, at).join('/'))
  return folders.find((each) => !existsSync(join(folder, each))) ?? path
}

/** Lists the files that differ from what they must be, missing folders, and names those files that were swapped. */
const compareFiles = (folder: string, expected: Map<string, Content>) => {
  const byHash = new Map([...expected].map(([path, { sha256 }]) => [sha256, path]))
  const lines = [...expected].flatMap(([path, { bytes, sha256 }]) => {
    if (!statSync(join(folder, path), { throwIfNoEntry: false })?.isFile())
      return [`${findMissing(folder, path)} is missing: use another copy of the backup`]
    const found = readContent(join(folder, path))
    if (found.sha256 === sha256) return []
    const other = byHash.get(found.sha256)
    if (other) return [`${path} has the content of ${other}: put the right file back`]
    if (found.bytes < bytes)
      return [`${path} has ${found.bytes} bytes instead of ${bytes}, it was cut: use another copy of the backup`]
    return [`${path} was changed: use another copy of the backup`]
  })
  return [...new Set(lines)]
}

/**
 * Reads all files of a backup, and compares them with its manifest.
 * @throws BackupError that lists what differs
 */
export const checkFiles = (folder: string) => {
  if (!existsSync(folder)) throw new BackupError([`${folder} does not exist`])
  const manifest = readManifest(folder)
  const files = new Map(Object.entries(manifest.files))
  const problems = compareFiles(folder, files)
  if (problems.length > 0) throw new BackupError(problems)
  const objects = parseObjects(folder)
  const stored = new Map(objects.map((object) => [pathOfObject(object.key), object]))
  const extra = listFiles(folder)
    .filter((path) => path !== MANIFEST && !files.has(path) && !stored.has(path))
    .map((path) => `${path} is not part of the backup: remove it`)
  const others = [...compareFiles(folder, stored), ...extra]
  if (others.length > 0) throw new BackupError(others)
  return { manifest, objects }
}

/** @throws BackupError if the schema or the secrets are not those of the backup */
export const checkTarget = (
  { commit, migrations, secrets }: Manifest,
  settings: Record<string, unknown>,
  without: string[],
) => {
  const isSame = JSON.stringify(migrations) === JSON.stringify(hashMigrations())
  const schema = isSame
    ? []
    : [
        `The backup has other migrations than this commit: \`git switch --detach ${commit} && npm ci\` before the restore`,
      ]
  const others = Object.entries(secrets)
    .filter(([name]) => !without.includes(name))
    .flatMap(([name, check]) => {
      const secret = settings[name]
      const what = `set it in the environment to that of the backup, or add \`--without ${name}\` if it is lost`
      if (typeof secret !== 'string' || secret === '') return [`${name} is not set: ${what}`]
      return checkOfSecret(name, secret) === check ? [] : [`${name} is not that of the backup: ${what}`]
    })
  if (schema.length + others.length > 0) throw new BackupError([...schema, ...others])
}
