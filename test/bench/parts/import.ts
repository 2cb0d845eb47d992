// What an import of 3,000 books costs: D1 calls, rows, and the CPU time of the Worker beside the database's own.
//
// The CPU time is that of the workerd process (Linux only). One import runs with the local D1, and its results are recorded.
// Others, in a new process, get the recorded results instead of a database: their time is the Worker's, and the
// difference is the database's, with the bucket. Both include the threads of the runtime and the request, so the Worker's
// is an upper bound. A shared machine may be half as fast in the next second: work of a fixed size runs before and after
// each import, and the targets are ratios to it.
import { existsSync, readFileSync } from 'node:fs'
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
  /** Mean CPU times. Undefined except on Linux. */
  cpu?: {
    /** Of the Worker, in a new isolate and later. */
    firstMs: number
    laterMs: number
    /** Of copying the file (workers/copying.ts) before and after these imports. */
    copyingMs: number
    /** Of the local database and bucket. */
    databaseMs: number
  }
}

/** Runs with recorded results, each in a new process, and the imports of each. */
const RUNS = 9
const IMPORTS = 3
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

const startBoth = () => startWorkers(['importing', 'copying'])
type Workers = Awaited<ReturnType<typeof startBoth>>

const send = async ({ urlOf }: Workers, method: string, path: string, status: number, more: object = {}) => {
  const { body } = await sendExpecting(urlOf.importing, { method, path, ...more }, status)
  return Buffer.from(body, 'latin1').toString()
}

/** The CPU time that the process uses for some work, and its result. */
const timeWork = async <Result>({ pid }: Workers, work: () => Promise<Result>) => {
  const before = cpuMs(pid)
  const result = await work()
  const after = cpuMs(pid)
  return { ms: before === undefined || after === undefined ? undefined : after - before, result }
}

const timeImport = async (workers: Workers, { token }: Library, file: string) => {
  const post = () => send(workers, 'POST', '/imports', 202, { token, body: file, type: 'text/csv' })
  const { ms, result } = await timeWork(workers, post)
  return { ms, importId: Number(JSON.parse(result).importId) }
}

const timeCopying = async (workers: Workers, file: string) => {
  const post = () => sendExpecting(workers.urlOf.copying, { method: 'POST', path: '/', body: file }, 200)
  return (await timeWork(workers, post)).ms
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
const recordImports = async (library: Library, file: string, books: number): Promise<Recorded[]> => {
  const workers = await startBoth()
  const record = async (name: string, outcome: string): Promise<Recorded> => {
    const { ms, importId } = await timeImport(workers, library, file)
    const calls: Call[] = JSON.parse(await send(workers, 'GET', '/recording', 200))
    const { counts } = JSON.parse(await send(workers, 'GET', `/imports/${importId}`, 200, { token: library.token }))
    if (counts[outcome] !== books) throw new Error(`${name}: not all rows are ${outcome}: ${JSON.stringify(counts)}`)
    return { name, calls, ms }
  }
  try {
    await workers.fill([...readMigrations(), ...fillSlot(0)])
    return [await record('import', 'created'), await record('the same again', 'unchanged')]
  } finally {
    await workers.stop()
  }
}

type Times = { first: number; later: number[]; copying: number[] }

/** The CPU times of imports that get recorded results, the first in a new isolate. Undefined except on Linux. */
const replayImports = async (library: Library, file: string, calls: Call[]): Promise<Times | undefined> => {
  const workers = await startBoth()
  try {
    await send(workers, 'PUT', '/recording', 200, { body: JSON.stringify(calls) })
    // The first copy, in a new isolate, is not counted.
    await timeCopying(workers, file)
    const copying = [await timeCopying(workers, file)]
    const imports: (number | undefined)[] = []
    for (let n = 0; n < IMPORTS; n++) {
      imports.push((await timeImport(workers, library, file)).ms)
      copying.push(await timeCopying(workers, file))
    }
    const [first, ...later] = imports.filter((ms) => ms !== undefined)
    return first === undefined ? undefined : { first, later, copying: copying.filter((ms) => ms !== undefined) }
  } finally {
    await workers.stop()
  }
}

const mean = (values: number[]) => values.reduce((total, value) => total + value, 0) / values.length

const toCpu = (times: Times[]) => ({
  firstMs: mean(times.map(({ first }) => first)),
  laterMs: mean(times.flatMap(({ later }) => later)),
  copyingMs: mean(times.flatMap(({ copying }) => copying)),
})

export const measureImport = async (isQuick: boolean, progress: (line: string) => void): Promise<ImportCost[]> => {
  const books = isQuick ? 300 : 3000
  const file = goodreadsBooks(books)
  const [library] = librariesOfSlots(1)
  if (!library) return []
  progress(`importing ${books} books, twice`)
  const costs: ImportCost[] = []
  for (const [at, { name, calls, ms }] of (await recordImports(library, file, books)).entries()) {
    progress(`${name}: repeating with the recorded results`)
    const runs: (Times | undefined)[] = []
    for (let n = 0; n < (isQuick ? 1 : RUNS); n++) runs.push(await replayImports(library, file, calls))
    const times = runs.filter((run) => run !== undefined)
    const cpu = times.length > 0 ? toCpu(times) : undefined
    const all = calls.flatMap(({ statements }) => statements)
    costs.push({
      name,
      books,
      calls: calls.length,
      read: sum(all, 'read'),
      written: sum(all, 'written'),
      statements: toStatementCosts(calls),
      // The second recorded import ran in an isolate that had run one.
      ...(cpu && { cpu: { ...cpu, databaseMs: (ms ?? 0) - (at === 0 ? cpu.firstMs : cpu.laterMs) } }),
    })
  }
  return costs
}
