import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openExport, openLocalFile, writeDump } from '../data/dump-files.ts'
import { type Digests, sumRows } from '../data/rows-as-sql.ts'
import { type Location, listSettings, type OpenSlot, openStores, type Settings } from '../data/stores.ts'
import { generatedSecrets } from '../deploy/settings.ts'
import { requireFolder } from '../paths.ts'
import { print, printError } from '../print.ts'
import { toQuery } from '../slots/compare.ts'
import { createMarkCheck, isOtherKey, OTHER_KEY } from '../slots/marks.ts'
import { BackupError, listFiles } from './check.ts'
import { checkOfSecret, hashMigrations, OBJECTS, readContent, type StoredObject, writeManifest } from './manifest.ts'
import { forgetDeleted, saveObjects } from './objects.ts'

/**
 * The checks of the secrets that a restore needs.
 * @param without the names of those that are lost
 */
const checkSecrets = async (slots: OpenSlot[], settings: Settings, without: string[] = []) => {
  const names = generatedSecrets(slots).filter((name) => !without.includes(name))
  const missing = names.filter((name) => !settings[name])
  if (missing.length > 0) {
    const toLine = (name: string) =>
      `Set ${name} in the environment to the secret of the deployment, so that a restore finds whether it has the same one, or add \`--without ${name}\` if it is lost`
    throw new BackupError(missing.map(toLine))
  }
  if (names.includes('ADDRESS_KEY') && (await isOtherKey(toQuery(slots), String(settings.ADDRESS_KEY))))
    throw new BackupError([OTHER_KEY])
  return Object.fromEntries(names.map((name) => [name, checkOfSecret(name, String(settings[name]))]))
}

const readCommit = () => {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return 'unknown'
  }
}

/** Creates a private folder, which is deleted when this process ends, unless the function that it returns is called. */
const createFolder = (path: string) => {
  const folder = resolve(path)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new BackupError([`${path} is not empty: choose a new folder for each backup`])
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  requireFolder(folder)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.on('exit', remove)
  return { folder, keep: () => process.off('exit', remove) }
}

/** Dumps the databases of all slots. One after the other: an export blocks its database. */
const dumpAll = (folder: string, slots: OpenSlot[], location: Location) => {
  const checkMark = createMarkCheck()
  const databases: Record<string, Digests> = {}
  const scratch = join(folder, 'scratch')
  for (const slot of slots) {
    mkdirSync(scratch)
    const report = (line: string) => printError(`${slot.binding}: ${line}`)
    try {
      using database = location.remote ? openExport(slot, scratch, report) : openLocalFile(location.persistTo, slot)
      checkMark(slot.slot, database)
      databases[slot.binding] = writeDump(database, join(folder, slot.binding), scratch, report)
    } catch (error) {
      throw new BackupError([`${slot.binding}: ${(error as Error).message}`])
    }
    rmSync(scratch, { recursive: true })
    print(`${slot.binding}: ${sumRows(databases[slot.binding] ?? {})} rows, restored and compared`)
  }
  return databases
}

/**
 * Writes a backup of deployed or local data to a new folder.
 * @param without the names of secrets that are lost
 * @throws BackupError after which there is no folder
 */
export const writeBackup = async (path: string, location: Location, without: string[] = []) => {
  const { folder, keep } = createFolder(path)
  const startedAt = new Date().toISOString()
  const { slots, bucket, settings, dispose } = await openStores(location)
  const secrets = await checkSecrets(slots, settings, without)
  const saved = new Map<string, StoredObject>()
  const progress = (count: number) => printError(`${count} objects copied`)
  // Before and after the databases, so that each row has its object, even if one was deleted meanwhile.
  await saveObjects(bucket, folder, saved, progress)
  const databases = dumpAll(folder, slots, location)
  forgetDeleted(folder, saved, await saveObjects(bucket, folder, saved, progress))
  await dispose()
  const lines = [...saved.values()].map((object) => `${JSON.stringify(object)}\n`)
  writeFileSync(join(folder, OBJECTS), lines.join(''), { mode: 0o600 })
  print(`bucket: ${saved.size} objects`)

  const files = listFiles(folder).filter((file) => !file.startsWith('objects/'))
  writeManifest(folder, {
    startedAt,
    commit: readCommit(),
    migrations: hashMigrations(),
    databases,
    files: Object.fromEntries(files.sort().map((file) => [file, readContent(join(folder, file))])),
    settings: listSettings(location),
    secrets,
  })
  keep()
  print(`${path}: complete. Keep apart from it: ${Object.keys(secrets).join(', ') || 'no secret'}`)
}
