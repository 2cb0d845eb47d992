// What an import of 3,000 books costs: D1 calls, rows, and the CPU time of the Worker beside the database's own.
//
// The CPU time is that of the workerd process (Linux only). One import runs with the local D1, and its results are recorded.
// Others, in a new process, get the recorded results instead of a database: their time is the Worker's, and the
// difference is the database's, with the bucket. Both include the threads of the runtime and the request, so the Worker's
// is an upper bound.
import { existsSync, readFileSync } from 'node:fs'
import { median } from '../../support/service/http-client.ts'
import { readMigrations } from '../../support/service/migrations.ts'
import { goodreadsBooks } from '../../support/transfer/goodreads-file.ts'
import { sendExpecting } from '../endpoints/endpoints.ts'
import { fillSlot, type Library, librariesOfSlots } from '../endpoints/seed.ts'
import { startWorkers } from '../workers.ts'
import type { Call } from './import-call.ts'

type StatementCost = { name: string; calls: number; read: number; written: number }
export type ImportCost = {
  name: string
  books: number
  calls: number
  read: number
  written: number
  statements: StatementCost[]
  /** Median CPU time of the Worker, in a new isolate and later. Undefined except on Linux. */
  firstMs?: number
  laterMs?: number
  /** CPU time of the local database and bucket. */
  databaseMs?: number
}

const BOOKS = 3000
/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10

const cpuMs = (pid: number) => {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return undefined
  const fields = readFileSync(file, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

type Workers = Awaited<ReturnType<typeof startWorkers<'importing'>>>

const send = async ({ urlOf }: Workers, method: string, path: string, status: number, more: object = {}) => {
  const { body } = await sendExpecting(urlOf.importing, { method, path, ...more }, status)
  return Buffer.from(body, 'latin1').toString()
}

/** Imports a file, and returns the CPU time of the process. */
const timeImport = async (workers: Workers, { token }: Library, file: string) => {
  const before = cpuMs(workers.pid)
  const body = await send(workers, 'POST', '/imports', 202, { token, body: file, type: 'text/csv' })
  const after = cpuMs(workers.pid)
  const ms = before === undefined || after === undefined ? undefined : after - before
  return { ms, importId: Number(JSON.parse(body).importId) }
}

const nameOf = (sql: string) => {
  const [, verb = '', table = ''] = /^\s*(insert into|update|delete from)\s+"?(\w+)/i.exec(sql) ?? []
  const [, source = ''] = /\bfrom\s+"?(\w+)/i.exec(sql) ?? []
  return verb ? `${verb} ${table}` : `select from ${source || 'members'}`
}

const sum = (costs: { read: number; written: number }[], key: 'read' | 'written') =>
  costs.reduce((total, cost) => total + cost[key], 0)

const toStatementCosts = (calls: Call[]): StatementCost[] => {
  const statements = calls.flatMap(({ statements }) => statements)
  return [...Map.groupBy(statements, ({ sql }) => nameOf(sql))]
    .map(([name, all]) => ({ name, calls: all.length, read: sum(all, 'read'), written: sum(all, 'written') }))
    .sort((one, other) => other.written - one.written || other.read - one.read)
}

type Recorded = { name: string; calls: Call[]; ms: number | undefined }

/** Imports the file into a library of 100 books, and once more. */
const recordImports = async (library: Library, file: string): Promise<Recorded[]> => {
  const workers = await startWorkers(['importing'])
  const record = async (name: string, outcome: string): Promise<Recorded> => {
    const { ms, importId } = await timeImport(workers, library, file)
    const calls: Call[] = JSON.parse(await send(workers, 'GET', '/recording', 200))
    const { counts } = JSON.parse(await send(workers, 'GET', `/imports/${importId}`, 200, { token: library.token }))
    if (counts[outcome] !== BOOKS) throw new Error(`${name}: not all rows are ${outcome}: ${JSON.stringify(counts)}`)
    return { name, calls, ms }
  }
  try {
    await workers.fill([...readMigrations(), ...fillSlot(0)])
    return [await record('import', 'created'), await record('the same again', 'unchanged')]
  } finally {
    await workers.stop()
  }
}

/** The CPU times of imports that get recorded results, the first in a new isolate. */
const replayImports = async (library: Library, file: string, calls: Call[], times: number) => {
  const workers = await startWorkers(['importing'])
  try {
    await send(workers, 'PUT', '/recording', 200, { body: JSON.stringify(calls) })
    const samples: number[] = []
    for (let n = 0; n < times; n++) {
      const { ms } = await timeImport(workers, library, file)
      if (ms !== undefined) samples.push(ms)
    }
    return samples
  } finally {
    await workers.stop()
  }
}

export const measureImport = async (isQuick: boolean, progress: (line: string) => void): Promise<ImportCost[]> => {
  const file = goodreadsBooks(BOOKS)
  const [library] = librariesOfSlots(1)
  if (!library) return []
  progress(`importing ${BOOKS} books, twice`)
  const costs: ImportCost[] = []
  for (const [at, { name, calls, ms }] of (await recordImports(library, file)).entries()) {
    progress(`${name}: repeating with the recorded results`)
    const samples: number[][] = []
    for (let n = 0; n < (isQuick ? 1 : 5); n++) samples.push(await replayImports(library, file, calls, 5))
    const firstMs = median(samples.flatMap(([first]) => first ?? []))
    const laterMs = median(samples.flatMap(([, ...later]) => later))
    // The second recorded import ran in an isolate that had run one.
    const workerMs = at === 0 ? firstMs : laterMs
    const all = calls.flatMap(({ statements }) => statements)
    costs.push({
      name,
      books: BOOKS,
      calls: calls.length,
      read: sum(all, 'read'),
      written: sum(all, 'written'),
      statements: toStatementCosts(calls),
      ...(ms !== undefined && workerMs !== undefined && { firstMs, laterMs, databaseMs: ms - workerMs }),
    })
  }
  return costs
}
