// `npm run bench [-- PART … --json FILE --quick]`: what each endpoint costs, compared with a minimal Worker,
// Express and Fastify. Fails on any unexpected response, and if a count misses its target. `--quick` shows that each part
// works: its durations mean nothing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { failWithUsage, parseOptions } from '../../scripts/options.ts'
import { exitUnless, requireWritable } from '../../scripts/paths.ts'
import { readMigrations } from '../support/service/migrations.ts'
import { buildService } from '../support/service/workerd.ts'
import { testDraws } from './draws.ts'
import { contractEndpoints, endpoints } from './endpoints/endpoints.ts'
import { ENTRIES, FILLED, fillDirectory, fillStatements, makeLibraries } from './endpoints/seed.ts'
import { fillFull, measureBatches } from './parts/batches.ts'
import { measureExport } from './parts/export.ts'
import { measureImport } from './parts/import.ts'
import { floodLogins, timeHash } from './parts/passwords.ts'
import { PEERS, startPeers } from './parts/peers.ts'
import { measurePicture } from './parts/picture.ts'
import { measureReadingTime } from './parts/reading-time.ts'
import { measureReference } from './parts/reference.ts'
import { measureHashing, measureRows, measureSessions, measureTrash, measureWithdrawal } from './parts/rows.ts'
import { measureSlots } from './parts/slots.ts'
import { measureStatistics } from './parts/statistics.ts'
import { measureSync } from './parts/sync.ts'
import { compareHeaders, compareSpeed, measureLatency, measureStartup } from './parts/throughput.ts'
import { printed } from './print.ts'
import { printReport } from './report.ts'
import type { Results } from './results.ts'
import { startWorkers } from './workers.ts'

const WORKER_PARTS = ['rows', 'throughput', 'distance', 'passwords', 'draws'] as const
const DEFAULT_PARTS = [...WORKER_PARTS, 'import', 'export', 'picture', 'statistics', 'startup', 'peers'] as const
const PARTS = [...DEFAULT_PARTS, 'slots', 'reference'] as const

const USAGE = `npm run bench -- [PART …] [--quick] [--json FILE]
  PART     ${PARTS.join(', ')}; default: all but slots and reference
  --quick  shows that each part works: its durations mean nothing
  --json   also writes the results to a file, beside those of other parts`
const options = { json: { type: 'string' }, quick: { type: 'boolean', default: false } } as const
const { values: flags, positionals } = parseOptions({ allowPositionals: true, options }, USAGE)
if (!positionals.every((name) => PARTS.some((part) => part === name))) failWithUsage(USAGE)
exitUnless(() => flags.json && requireWritable(flags.json))
const selected: readonly string[] = positionals.length > 0 ? positionals : DEFAULT_PARTS
const isSelected = (part: (typeof PARTS)[number]) => selected.includes(part)
const effort = flags.quick ? { warmUp: 10, rounds: 1, requests: 20 } : { warmUp: 3000, rounds: 21, requests: 150 }

const start = performance.now()
const progress = (line: string) =>
  console.error(`[${((performance.now() - start) / 1000).toFixed(0).padStart(3)} s] ${line}`)

const compared = endpoints.filter((endpoint) => endpoint.compared)
const [library] = endpoints

const runWorkers = async (results: Results) => {
  const { urlOf, fill, stop } = await startWorkers(['quiet', 'baseline', 'measured', 'distant', 'chain', 'hashing'])
  try {
    progress(`filling the database: ${FILLED.books} books, ${FILLED.memos} memos`)
    const empty = await fill(readMigrations())
    const filled = await fill(fillStatements())
    const withDirectory = await fill([fillDirectory])
    results.storage = { bytes: filled - empty, ...FILLED, entryBytes: (withDirectory - filled) / ENTRIES }
    const { small, large } = makeLibraries()
    if (isSelected('rows')) {
      progress('counting calls and rows')
      results.rows = await measureRows(urlOf.measured, small, large)
      results.rows.push(...(await measureTrash(urlOf.measured, small, large)))
      results.rows.push(...(await measureReadingTime(urlOf.measured, small, large)))
      results.hashing = await measureHashing(urlOf.measured)
    }
    if (isSelected('throughput')) {
      results.speed = {}
      for (const endpoint of compared) await compareHeaders([urlOf.quiet, urlOf.baseline], endpoint, small)
      for (const endpoint of endpoints.filter(({ untimed }) => !untimed)) {
        progress(`timing ${endpoint.name}`)
        const urls = endpoint.compared ? [urlOf.quiet, urlOf.baseline] : [urlOf.quiet]
        const reduced = endpoint.compared || flags.quick ? effort : { ...effort, warmUp: 300, rounds: 3 }
        const [service, baseline] = await compareSpeed(urls, endpoint, large, reduced)
        if (service) results.speed[endpoint.name] = { service, ...(baseline && { baseline }) }
      }
    }
    if (isSelected('distance')) {
      results.distance = {}
      for (const endpoint of contractEndpoints) {
        progress(`timing ${endpoint.name} with the database 50 ms away`)
        const time = (url: URL) => measureLatency(url, endpoint, large, flags.quick ? 2 : 21)
        results.distance[endpoint.name] = { service: await time(urlOf.distant), chain: await time(urlOf.chain) }
      }
    }
    if (isSelected('passwords')) {
      progress('hashing passwords and flooding logins')
      const hashMs = await timeHash(urlOf.hashing, flags.quick ? 1 : 5)
      results.passwords = { hashMs, flood: await floodLogins(urlOf.quiet, library, large, flags.quick ? 100 : 2000) }
    }
    if (isSelected('draws')) {
      results.draws = await testDraws(urlOf.quiet, small, flags.quick ? 500 : 20_000, progress)
    }
    if (isSelected('rows')) {
      progress('counting the rows of members who sync')
      results.rows?.push(...(await measureSync(urlOf.measured, small, large)))
      progress('counting what the largest batches change')
      await fill(fillFull())
      results.batches = await measureBatches(urlOf.measured, makeLibraries().full)
      progress('ending sessions and withdrawing both members')
      results.rows?.push(...(await measureSessions(urlOf.measured, small, large)))
      results.rows?.push(await measureWithdrawal(urlOf.measured, small, large))
    }
  } finally {
    await stop()
  }
}

const runPeers = async (results: Results) => {
  const peers = await startPeers(progress)
  const { large } = makeLibraries()
  results.peers = {}
  try {
    for (const endpoint of compared) {
      progress(`timing ${endpoint.name} on Node`)
      const speeds = await compareSpeed(peers.urls, endpoint, large, effort)
      results.peers[endpoint.name] = Object.fromEntries(PEERS.map((peer, at) => [peer, speeds[at]]))
    }
  } finally {
    peers.stop()
  }
}

progress('building the Worker')
// Parts that are not measured now keep the results in the file.
const earlier: Partial<Results> =
  flags.json && existsSync(flags.json) ? JSON.parse(readFileSync(flags.json, 'utf8')) : {}
const results: Results = { ...earlier, worker: buildService() }
if (isSelected('startup')) {
  progress('measuring the start-up')
  results.startupMs = await measureStartup(flags.quick ? 1 : 7)
}
if (WORKER_PARTS.some(isSelected)) await runWorkers(results)
if (isSelected('import')) results.import = await measureImport(flags.quick, progress)
if (isSelected('export')) results.export = await measureExport(flags.quick, progress)
if (isSelected('picture')) results.picture = measurePicture(flags.quick ? 5 : 200)
if (isSelected('statistics')) results.statistics = measureStatistics(flags.quick)
if (isSelected('peers')) await runPeers(results)
if (isSelected('slots')) results.slots = await measureSlots(flags.quick, progress)
if (isSelected('reference')) results.reference = await measureReference(flags.quick ? 1 : 7, progress)
progress('done')

if (!printReport(results)) process.exitCode = 1
if (flags.json) writeFileSync(flags.json, `${JSON.stringify({ ...results, report: printed }, null, 2)}\n`)
