// @module-tag slow
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readManifest, sha256 } from '../../scripts/backup/manifest.ts'
import { rehearse, restoreBackup } from '../../scripts/backup/restore.ts'
import { writeBackup } from '../../scripts/backup/write.ts'
import { localPath, openStores } from '../../scripts/data/stores.ts'
import {
  addMember,
  createDatabase,
  createFolder,
  JWT_SECRET,
  runBackupScriptIn,
  runCommandIn,
  runHere,
} from './databases.ts'

const ADDRESS_KEY = 'a key of the tests only, for the hashes of addresses'
const IMAGES = ['a', 'b'].map((letter) => `images/1/${letter.repeat(22)}.png`)
const [FIRST, SECOND] = ['DB/0001.sql', 'DB_1/0001.sql']
const [IMAGE = '', OTHER_IMAGE = ''] = IMAGES.map((key) => `objects/${key}`)

const folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
const original = join(folder, 'backup')
beforeAll(async () => {
  const data = join(folder, 'data')
  addMember(createDatabase(data), [['A memo', 'Another memo']])
  createDatabase(data, 'DB_1')
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  const { bucket, dispose } = await openStores({ persistTo: data })
  for (const key of IMAGES)
    await bucket.put(key, `the content of ${key}`, { httpMetadata: { contentType: 'image/png' } })
  await dispose()
  await runHere({ ADDRESS_KEY }, () => writeBackup(original, { persistTo: data }))
})
afterAll(() => rmSync(folder, { recursive: true }))

const edit = (path: string, change: (text: string) => string) => writeFileSync(path, change(readFileSync(path, 'utf8')))
const swap = (a: string, b: string) => {
  renameSync(a, `${a}.swapped`)
  renameSync(b, a)
  renameSync(`${a}.swapped`, b)
}
/** Changes the manifest as someone who knows how it is made. */
const forge = (backup: string, change: (body: Record<string, unknown>) => object) => {
  const body = { ...readManifest(backup) }
  const forged = { ...body, ...change(body) }
  writeFileSync(join(backup, 'manifest.json'), JSON.stringify({ ...forged, sha256: sha256(JSON.stringify(forged)) }))
}
const withoutLines = (count: number) => (text: string) => text.split('\n').slice(0, -count).join('\n')

type Damage = (path: (name: string) => string) => void

/** What is done to a backup, and how a restore refuses it. */
const DAMAGES: [what: string, damage: Damage, refusal: string | RegExp][] = [
  ['no folder', (path) => rmSync(path(''), { recursive: true }), 'does not exist'],
  ['no manifest', (path) => rmSync(path('manifest.json')), 'no manifest.json: it is no backup, or was interrupted'],
  [
    'an interrupted backup',
    (path) => renameSync(path('manifest.json'), path('manifest.json.unfinished')),
    'no manifest.json: it is no backup, or was interrupted',
  ],
  ['a manifest cut at half', (path) => truncateSync(path('manifest.json'), 900), 'manifest.json was cut or changed'],
  [
    'a manifest with another number',
    (path) => edit(path('manifest.json'), (text) => text.replace('"rows": 2', '"rows": 3')),
    'manifest.json was cut or changed',
  ],
  [
    'another format',
    (path) => forge(path(''), () => ({ format: 2 })),
    'The backup has format 2, not 1: restore it with',
  ],
  ['a dump cut at the end of a line', (path) => edit(path(FIRST), withoutLines(41)), `${FIRST} has `],
  ['a dump cut at half', (path) => truncateSync(path(FIRST), 30_000), `${FIRST} has 30000 bytes instead of `],
  [
    'one changed letter',
    (path) => edit(path(FIRST), (text) => text.replace('Another memo', 'Another mema')),
    `${FIRST} was changed: use another copy`,
  ],
  ['an added statement', (path) => appendFileSync(path(FIRST), 'DELETE FROM books;\n'), `${FIRST} was changed`],
  ['an empty dump', (path) => writeFileSync(path(SECOND), ''), `${SECOND} has 0 bytes instead of `],
  ['a missing dump', (path) => rmSync(path(SECOND)), `${SECOND} is missing`],
  ['a missing folder', (path) => rmSync(path('DB_1'), { recursive: true }), 'DB_1 is missing: use another copy'],
  [
    'an empty folder',
    (path) => [rmSync(path('DB_1'), { recursive: true }), mkdirSync(path('DB_1'))],
    `${SECOND} is missing`,
  ],
  [
    'no objects',
    (path) => rmSync(path('objects'), { recursive: true }),
    /^objects is missing: use another copy of the backup$/,
  ],
  ['a folder in place of a dump', (path) => [rmSync(path(FIRST)), mkdirSync(path(FIRST))], `${FIRST} is missing`],
  ['swapped dumps', (path) => swap(path('DB'), path('DB_1')), `${FIRST} has the content of ${SECOND}: put the right`],
  ['a further dump', (path) => cpSync(path(FIRST), path('DB/0002.sql')), 'DB/0002.sql is not part of the backup'],
  ['a further file', (path) => writeFileSync(path('notes.txt'), ''), 'notes.txt is not part of the backup: remove it'],
  ['a missing list of objects', (path) => rmSync(path('objects.jsonl')), 'objects.jsonl is missing'],
  ['a shorter list of objects', (path) => edit(path('objects.jsonl'), withoutLines(2)), 'objects.jsonl has '],
  ['a missing image', (path) => rmSync(path(IMAGE)), `${IMAGE} is missing`],
  ['a cut image', (path) => truncateSync(path(IMAGE), 3), `${IMAGE} has 3 bytes instead of `],
  ['a changed image', (path) => edit(path(IMAGE), (text) => text.toUpperCase()), `${IMAGE} was changed`],
  ['swapped images', (path) => swap(path(IMAGE), path(OTHER_IMAGE)), `${IMAGE} has the content of ${OTHER_IMAGE}`],
  ['a further image', (path) => cpSync(path(IMAGE), `${path(IMAGE)}.png`), `${IMAGE}.png is not part of the backup`],
  [
    'other migrations',
    (path) => forge(path(''), () => ({ migrations: { '0000_schema.sql': sha256('') } })),
    'The backup has other migrations than this commit: `git switch --detach ',
  ],
]

const SECRETS = { JWT_SECRET, ADDRESS_KEY }

const restore = (backup: string, to: string, options = {}, secrets: Partial<typeof SECRETS> = {}) =>
  runHere({ ...SECRETS, ...secrets }, () => restoreBackup(backup, { persistTo: join(folder, to) }, options))

const refuse = async (
  backup: string,
  refusal: string | RegExp,
  secrets: Partial<typeof SECRETS> = {},
  to = 'restored',
) => {
  const persistTo = join(folder, to)
  const existed = existsSync(persistTo) && readdirSync(persistTo, { recursive: true }).length
  await expect(restore(backup, to, {}, secrets)).rejects.toThrow(refusal)
  expect(existsSync(persistTo) && readdirSync(persistTo, { recursive: true }).length).toBe(existed)
}

it.each(DAMAGES)('refuses %s, and writes nothing', async (_, damage, refusal) => {
  const backup = join(createFolder(), 'backup')
  cpSync(original, backup, { recursive: true })
  damage((name) => join(backup, name))
  await refuse(backup, refusal)
})

it.each([
  ['JWT_SECRET', ''],
  ['JWT_SECRET', 'another secret, which is as long as it must be'],
  ['ADDRESS_KEY', ''],
  ['ADDRESS_KEY', 'another secret, which is as long as it must be'],
])('refuses %s "%s", and writes nothing', async (name, value) => {
  const problem = value ? 'is not that of the backup' : 'is not set'
  const refusal = `${name} ${problem}: set it in the environment to that of the backup, or add \`--without ${name}\` if it is lost`
  await refuse(original, refusal, { [name]: value })
})

it('refuses a folder that has a database', async () => {
  await refuse(original, `has a database DB: choose another folder`, {}, 'data')
})

it('finds other rows than those of the manifest, and completes the restore without a secret that is lost', async () => {
  const backup = join(createFolder(), 'backup')
  cpSync(original, backup, { recursive: true })
  forge(backup, ({ databases }) => {
    const { DB, ...others } = databases as Record<string, object>
    return { databases: { DB: { ...DB, memos: { rows: 3, sha256: sha256('') } }, ...others } }
  })
  const differing = join(folder, 'differing')
  const args = ['restore', backup, '--local', '--persist-to', differing] as const
  expect(await runBackupScriptIn('.', { ADDRESS_KEY }, ...args)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('DB: memos: 2 rows instead of 3'),
  })
  expect(existsSync(localPath(differing, 'DB'))).toBe(false)
  const interrupted = `A restore into ${differing} was interrupted: repeat the same \`npm run restore\``
  expect(await runCommandIn('.', { ADDRESS_KEY }, 'verify', '--local', '--persist-to', differing)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(interrupted),
  })
  await expect(restore(original, 'differing', { slot: 1 })).rejects.toThrow(`${differing} has half a restore of DB:`)
  const completed = await restore(original, 'differing', { without: ['JWT_SECRET'] }, { JWT_SECRET: 'another' })
  // The original has none.
  expect(completed.stdout).toContain('rows of images added: 2')
  expect(completed.result).toBe(true)
  expect(['DB', 'DB_1'].map((binding) => existsSync(localPath(differing, binding)))).toEqual([true, true])
  expect(existsSync(join(differing, 'restore.unfinished'))).toBe(false)

  const TMPDIR = createFolder()
  const env = { ADDRESS_KEY, TMPDIR }
  expect(await runBackupScriptIn('.', env, 'backup', 'rehearse', original)).toMatchObject({ code: 0 })
  await expect(runHere(env, () => rehearse(backup, {}))).rejects.toThrow('DB: memos: 2 rows instead of 3')
  expect(readdirSync(TMPDIR).filter((name) => name.startsWith('reading-library-'))).toEqual([])
})

it('restores only the database of a slot', async () => {
  const data = join(folder, 'one-slot')
  cpSync(join(folder, 'data'), data, { recursive: true })
  const files = ['', '-wal', '-shm'].map((suffix) => localPath(data, 'DB_1') + suffix)
  for (const file of files) rmSync(file, { force: true })
  await expect(restore(original, 'one-slot', { slot: 7 })).rejects.toThrow('The backup has no slot 7')
  await expect(restore(original, 'one-slot', { slot: 0 })).rejects.toThrow(`${data} has a database DB:`)
  const { result, stdout } = await restore(original, 'one-slot', { slot: 1 })
  expect([result, stdout]).toEqual([true, expect.stringMatching(/^DB_1: \d+ rows restored and compared$/m)])
  expect(stdout).not.toMatch(/^DB: /m)
})
