// The service as it would be deployed, in its own workerd with its own data.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import { findMismatches } from '../../../scripts/data/integrity'
import { listChildren } from '../../../scripts/serve/processes'
import { defineSqlWorker, openDatabases } from '../../support/service/databases'
import { readMigrations } from '../../support/service/migrations'
import { defineReader, defineWorker, MINIFLARE_OPTIONS, SERVICE } from '../../support/service/workerd'
import { migrate } from '../../support/stores'
import { createClient } from './client'

export const JWT_SECRET = 'a secret of the attack suites only, which no deployment has'
const ADDRESS_KEY = 'a key of the attack suites only, which hashes the addresses'
const NAME = 'service'

export type Options = {
  /** Changes variables; undefined removes one. */
  vars?: Record<string, string | undefined>
  /** The main module, if it is not the service itself. */
  entry?: string
  /** A folder with the data of an earlier service. By default a new one is created. */
  data?: string
  /** How many databases. If there are several, new members are in slot 1. */
  slots?: number
  uploadsPerMinute?: number
  writesPerMinute?: number
  unconfirmedPerMinute?: number
  /** Opens the inspector, which reports memory use. */
  inspected?: boolean
}

export type Service = Awaited<ReturnType<typeof startService>>

const VARS = {
  JWT_SECRET,
  EMAIL_VERIFICATION: 'off',
  MAIL_FROM: 'library@example.com',
  PUBLIC_URL: 'https://library.example',
  CATALOGUE_PROVIDER: 'sample',
  LOG_SAMPLE_RATE: '1',
}

/** The bindings of all slots, in ascending order. */
const bindingsOf = (slots: number) => Array.from({ length: slots }, (_, slot) => (slot === 0 ? 'DB' : `DB_${slot}`))

const toSlotBindings = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { type: 'd1' as const, id: name === 'DB' ? 'library' : name }]))

const temporary = mkdtempSync(join(tmpdir(), 'reading-library-'))
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }))

/** A folder that is deleted when this process exits. */
export const makeFolder = () => mkdtempSync(join(temporary, 'service-'))

/** Miniflare writes each sent mail to a file. */
const readMails = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.txt'))
    .map((file) => join(folder, file))
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
    .map((file) => readFileSync(file, 'utf8'))

/** Starts the service, which must have been built before. */
export const startService = async (options: Options = {}) => {
  const { vars, entry = SERVICE, inspected, data, uploadsPerMinute = 30, slots = 1 } = options
  const { writesPerMinute, unconfirmedPerMinute } = options
  const names = bindingsOf(slots)
  const slotVars = slots > 1 ? { ADDRESS_KEY, NEW_MEMBERS: '*:1' } : {}
  const mails = makeFolder()
  const lines: string[] = []
  const before = listChildren()
  const worker = defineWorker({
    name: NAME,
    entry,
    vars: { ...VARS, ...slotVars, ...vars },
    uploadsPerMinute,
    writesPerMinute,
    unconfirmedPerMinute,
    bindings: { EMAIL: { type: 'send-email' as const }, ...toSlotBindings(names) },
  })
  const miniflare = new Miniflare({
    ...MINIFLARE_OPTIONS,
    workers: [worker, defineReader(), defineSqlWorker(toSlotBindings(names))],
    resourcePersistencePath: data ?? makeFolder(),
    resourceTmpPath: mails,
    ...(inspected && { inspectorPort: 0 }),
    handleStructuredLogs: ({ message }) => lines.push(message),
  })
  await miniflare.ready
  const url = await miniflare.unsafeGetDirectURL(NAME)
  const databases = await openDatabases(miniflare, names)
  await Promise.all(databases.map((database) => migrate(database, readMigrations())))
  const [directory] = databases as [D1Database, ...D1Database[]]
  const slot = slots > 1 ? 1 : 0
  const client = createClient(url)
  return {
    name: NAME,
    url,
    /** The process id of workerd. */
    pid: listChildren().find((pid) => !before.includes(pid)) ?? Number.NaN,
    inspector: inspected ? await miniflare.getInspectorURL() : undefined,
    /** Everything logged so far. */
    lines,
    /** Texts that must not be logged. */
    secrets: new Set([JWT_SECRET, ADDRESS_KEY]),
    /** Verification codes, which must not be logged either. They are searched for as whole numbers. */
    codes: new Set<string>(),
    /** Of all slots. */
    databases,
    /** The mismatches that the integrity check finds in all databases. */
    findMismatches: async () => {
      const found = await Promise.all(databases.map((database, number) => findMismatches(database, number)))
      return found.flat().map(({ table, id, field }) => `${field} of ${table} ${id} is wrong`)
    },
    /** Of slot 0: codes, attempts, and the directory of addresses. */
    directory,
    /** Where new members are. */
    slot,
    database: databases[slot] ?? directory,
    addressKey: ADDRESS_KEY,
    bucket: (await miniflare.getR2Bucket('IMAGES', NAME)) as unknown as R2Bucket,
    lists: (await miniflare.getKVNamespace('CATALOGUE', NAME)) as unknown as KVNamespace,
    request: client.request,
    responses: client.responses,
    /** The texts of all sent mails, oldest first. */
    mails: () => readMails(mails),
    runCron: async () => {
      await (await miniflare.getWorker(NAME)).scheduled()
    },
    stop: async () => {
      client.close()
      await miniflare.dispose()
    },
  }
}
