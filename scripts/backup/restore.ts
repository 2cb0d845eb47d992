import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { restoreFiles } from '../data/dump-files.ts'
import { hasNewerMark } from '../data/marks.ts'
import { compareDigests, DEFINITIONS, type Digests, sumRows } from '../data/rows-as-sql.ts'
import { type Location, localPath, type OpenSlot, openStores, readSettings } from '../data/stores.ts'
import { verify } from '../data/verify.ts'
import { requireFolder } from '../paths.ts'
import { print, printError } from '../print.ts'
import { queryAll } from '../slots/compare.ts'
import { idsOf, parseSlots, type Slot } from '../slots/table.ts'
import {
  listHalfRestored,
  markHalfRestored,
  readRestoredSlots,
  readSlots,
  unmarkHalfRestored,
  writeLocalTable,
} from '../wrangler/config.ts'
import { repeatUnsent } from '../wrangler/repeat-unsent.ts'
import { BackupError, checkFiles, checkTarget } from './check.ts'
import type { Manifest, StoredObject } from './manifest.ts'
import { putObjects } from './objects.ts'

const numbersOf = ({ databases }: Manifest) => Object.keys(databases).map((binding) => Number(binding.slice(3)))

/** The slots to restore. @throws BackupError if those of a deployment are not the ones of the backup */
const readTargetSlots = ({ remote }: Location, manifest: Manifest) => {
  const numbers = numbersOf(manifest)
  const slots = remote
    ? readSlots()
    : parseSlots(
        numbers.map((slot) => ({ slot })),
        'DB',
      )
  if (slots.map(({ slot }) => slot).join() === numbers.join()) return slots
  throw new BackupError([`The backup has the slots ${numbers.join(', ')}: list these in slots.json`])
}

const COUNT = `select count(*) as count from sqlite_schema where name not glob 'sqlite_*' and name not glob '_cf_*'`

/** @throws BackupError if a deployed database has tables */
const requireEmpty = async (slots: OpenSlot[]) => {
  const lines: string[] = []
  for (const { name, database } of slots) {
    const [row] = await queryAll<{ count: number }>(database, COUNT)
    if (row?.count) lines.push(`The database ${name} has tables`)
  }
  if (lines.length === 0) return
  const what =
    'Create a new one (npx wrangler d1 create), set its name in wrangler.toml or slots.json, and restore before `npm run deploy`'
  throw new BackupError([...lines, what])
}

/** @throws BackupError if a folder has one of the databases, unless an interrupted restore has left it */
const requireMissing = (persistTo: string, slots: Slot[]) => {
  const left = listHalfRestored(persistTo)
  const others = left.filter((each) => slots.every(({ binding }) => binding !== each))
  if (others.length > 0)
    throw new BackupError([
      `${persistTo} has half a restore of ${others.join(', ')}: complete it first, by the same command`,
    ])
  const lines = slots
    .filter(({ binding }) => existsSync(localPath(persistTo, binding)) && !left.includes(binding))
    .map(
      ({ binding }) => `${persistTo} has a database ${binding}: choose another folder with --persist-to, or delete it`,
    )
  if (lines.length > 0) throw new BackupError(lines)
}

/** Has a deployed database run the files of a dump. Returns how its numbers of rows differ from the backup's. */
export const restoreDeployed = async ({ name, database }: OpenSlot, files: string[], expected: Digests) => {
  for (const file of files) {
    const args = ['d1', 'execute', name, '--remote', '--yes', '--file', file]
    const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
    const { status } = spawnSync('wrangler', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
    if (status !== 0)
      throw new Error(
        `wrangler d1 execute ${name} failed at ${file}: delete the database, create it again, and repeat the restore`,
      )
  }
  const tables = Object.keys(expected).filter((table) => table !== DEFINITIONS)
  const counts = tables.map((table) => `(select count(*) from "${table}") as "${table}"`)
  const count = () => queryAll<Record<string, number>>(database, `select ${counts}`)
  const [found = {}] = await repeatUnsent(count)
  return tables
    .filter((table) => found[table] !== expected[table]?.rows)
    .map((table) => `${table}: ${found[table]} rows instead of ${expected[table]?.rows}`)
}

const restoreLocal = ({ binding }: Slot, persistTo: string, files: string[], expected: Digests) => {
  const path = localPath(persistTo, binding)
  mkdirSync(dirname(path), { recursive: true })
  return compareDigests(
    expected,
    restoreFiles(files, path, (line) => printError(`${binding}: ${line}`)),
  )
}

const deleteDatabases = (persistTo: string, slots: Slot[]) => {
  const paths = slots.map(({ binding }) => localPath(persistTo, binding))
  for (const path of paths)
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

const restoreDatabases = async (folder: string, manifest: Manifest, location: Location, slots: OpenSlot[]) => {
  for (const slot of slots) {
    const { binding } = slot
    const files = Object.keys(manifest.files).filter((file) => file.startsWith(`${binding}/`))
    const [paths, expected] = [files.sort().map((file) => join(folder, file)), manifest.databases[binding] ?? {}]
    const differences = location.remote
      ? await restoreDeployed(slot, paths, expected)
      : restoreLocal(slot, location.persistTo, paths, expected)
    if (differences.length > 0) throw new BackupError(differences.map((line) => `${binding}: ${line}`))
    print(`${binding}: ${sumRows(expected)} rows restored and compared`)
  }
}

/** `without`: the names of secrets that are lost. `slot`: the only one to restore. `isRehearsal`: whether the result is deleted. */
type Options = { without?: string[] | undefined; slot?: number | undefined; isRehearsal?: boolean }

const unknownSince = ({ startedAt }: Manifest) =>
  `Nothing is known of blocks, take-downs, withdrawals and new passwords after ${startedAt}: the bucket had no marks of them (docs/operations.md#after-a-restore)`

/** The part of a backup that belongs to a slot. Without one, all of it. */
const selectSlot = (slots: Slot[], objects: StoredObject[], slot: number | undefined) => {
  if (slot === undefined) return { chosen: slots, own: objects }
  const { first, last } = idsOf(slot)
  const isOwn = ({ key }: StoredObject) => {
    const memberId = Number(key.split('/')[1])
    return memberId >= first && memberId <= last
  }
  const chosen = slots.filter((each) => each.slot === slot)
  if (chosen.length === 0) throw new BackupError([`The backup has no slot ${slot}`])
  return { chosen, own: objects.filter(isOwn) }
}

/**
 * Restores a backup into empty databases, after it has checked everything. Repeats what the bucket remembers, and
 * returns whether all that was restored is sound.
 * @throws BackupError that says what to do
 */
export const restoreBackup = async (folder: string, location: Location, options: Options) => {
  const { without = [], slot, isRehearsal = false } = options
  const { manifest, objects } = checkFiles(folder)
  const slots = readTargetSlots(location, manifest)
  const { chosen, own } = selectSlot(slots, objects, slot)
  checkTarget(manifest, readSettings(location), without)
  const bindings = chosen.map(({ binding }) => binding)
  if (!location.remote) requireMissing(location.persistTo, chosen)
  print(`${folder}: unchanged since ${manifest.startedAt}, of commit ${manifest.commit}`)

  if (!location.remote) {
    requireFolder(location.persistTo)
    deleteDatabases(location.persistTo, chosen)
    markHalfRestored(location.persistTo, bindings)
  }
  const target = await openStores(location, slots)
  const isChosen = ({ binding }: Slot) => bindings.includes(binding)
  const databases = target.slots.filter(isChosen)
  if (location.remote) await requireEmpty(databases)
  const isBucketOlder = !(await hasNewerMark(target.bucket, Date.parse(manifest.startedAt)))
  // Before the databases: a row without its object is worse than an object without its row.
  const progress = (count: number) => printError(`${count} objects stored`)
  print(`bucket: ${await putObjects(target.bucket, folder, own, progress)} of ${own.length} objects were missing`)
  if (location.remote) {
    await restoreDatabases(folder, manifest, location, databases)
    await target.dispose()
  } else {
    await target.dispose()
    const discard = () => deleteDatabases(location.persistTo, chosen)
    process.on('exit', discard)
    await restoreDatabases(folder, manifest, location, databases)
    if (slot === undefined) writeLocalTable(location.persistTo, numbersOf(manifest))
    process.off('exit', discard)
  }

  const all = location.remote ? readSlots() : readRestoredSlots(location.persistTo)
  const { dispose, ...stores } = await openStores(location, all)
  const isSound = await verify(stores, {
    repair: true,
    restored: stores.slots.filter(isChosen),
    isNewKey: without.includes('ADDRESS_KEY'),
    settleMs: 0,
    print,
    progress: printError,
  })
  await dispose()
  if (!location.remote) unmarkHalfRestored(location.persistTo)
  if (isBucketOlder && !isRehearsal) print(unknownSince(manifest))
  return isSound
}

/** Restores a backup into a temporary folder, and returns whether everything is as the manifest says. */
export const rehearse = async (folder: string, options: Options) => {
  const persistTo = mkdtempSync(join(tmpdir(), 'reading-library-'))
  const remove = () => rmSync(persistTo, { recursive: true, force: true })
  // A signal ends this process without `finally`.
  process.on('exit', remove)
  return restoreBackup(folder, { persistTo }, { ...options, isRehearsal: true }).finally(remove)
}
