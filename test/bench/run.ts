// `npm run bench [-- --json FILE] [--quick] [--only NAME]`: what each endpoint costs, and how near that is to the least.
// NAME is a part: rows, throughput, distance, passwords, draws, startup, peers. An unexpected answer anywhere fails the bench.
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { BUILD, buildService, startWorkers } from '../support/workerd.ts'
import { testDraws } from './draws.ts'
import { endpoints } from './endpoints.ts'
import { floodLogins, timeHash } from './passwords.ts'
import { PEERS, preparePeers, startPeers } from './peers.ts'
import { printReport, type Results } from './report.ts'
import { measureHashing, measureRows, measureWithdrawal } from './rows.ts'
import { FILLED, fillStatements, makeShelves, readMigrations } from './seed.ts'
import { measureStartup } from './startup.ts'
import { confirmAnswer, race, timeAnswers } from './throughput.ts'

const PARTS = ['rows', 'throughput', 'distance', 'passwords', 'draws', 'startup', 'peers'] as const

const { values: flags } = parseArgs({
  options: { json: { type: 'string' }, quick: { type: 'boolean', default: false }, only: { type: 'string' } },
})
if (flags.only && !PARTS.some((part) => part === flags.only)) {
  console.error(`--only takes one of ${PARTS.join(', ')}`)
  process.exit(2)
}
const wanted = (part: (typeof PARTS)[number]) => flags.only === undefined || flags.only === part
const effort = flags.quick ? { warmUp: 300, rounds: 5, requests: 100 } : { warmUp: 3000, rounds: 21, requests: 150 }

const start = performance.now()
const progress = (line: string) =>
  console.error(`[${((performance.now() - start) / 1000).toFixed(0).padStart(3)} s] ${line}`)

const compared = endpoints.filter((endpoint) => endpoint.compared)
const library = endpoints[0]
if (!library) throw new Error('There are no endpoints')

const runWorkers = async (results: Results) => {
  const { urlOf, fill, stop } = await startWorkers('quiet', 'floor', 'measured', 'distant', 'chain', 'hashing')
  try {
    progress(`filling the database: ${FILLED.books} books, ${FILLED.memos} memos`)
    const empty = await fill(readMigrations())
    const filled = await fill(fillStatements())
    results.storage = { bytes: filled - empty, ...FILLED }
    const { small, large } = makeShelves()
    for (const endpoint of compared) await confirmAnswer(urlOf.floor, endpoint, small)
    if (wanted('rows')) {
      progress('counting calls and rows')
      results.rows = await measureRows(urlOf.measured, small, large)
      results.hashing = await measureHashing(urlOf.measured)
    }
    if (wanted('throughput')) {
      results.speed = {}
      for (const endpoint of endpoints) {
        progress(`timing ${endpoint.name}`)
        const urls = endpoint.compared ? [urlOf.quiet, urlOf.floor] : [urlOf.quiet]
        const [service, floor] = await race(
          urls,
          endpoint,
          large,
          endpoint.compared ? effort : { ...effort, warmUp: 300, rounds: 3 },
        )
        if (service) results.speed[endpoint.name] = { service, ...(floor && { floor }) }
      }
    }
    if (wanted('distance')) {
      results.distance = {}
      for (const endpoint of endpoints) {
        progress(`holding the database 50 ms away from ${endpoint.name}`)
        const time = (url: URL) => timeAnswers(url, endpoint, large, flags.quick ? 9 : 21)
        results.distance[endpoint.name] = { service: await time(urlOf.distant), chain: await time(urlOf.chain) }
      }
    }
    if (wanted('passwords')) {
      progress('hashing passwords, and flooding logins')
      const hashMs = await timeHash(urlOf.hashing)
      results.passwords = { hashMs, flood: await floodLogins(urlOf.quiet, library, large, flags.quick ? 400 : 2000) }
    }
    if (wanted('draws')) {
      results.draws = await testDraws(urlOf.quiet, small, flags.quick ? 2000 : 20_000, progress)
    }
    if (wanted('rows')) {
      progress('withdrawing both members')
      results.rows?.push(await measureWithdrawal(urlOf.measured, small, large))
    }
  } finally {
    await stop()
  }
}

const runPeers = async (results: Results) => {
  try {
    preparePeers(progress)
  } catch (error) {
    progress(`the peers are left out, since they could not be installed: ${(error as Error).message}`)
    return
  }
  const { urls, stop } = await startPeers()
  try {
    const { large } = makeShelves()
    results.peers = {}
    for (const endpoint of compared) {
      progress(`timing ${endpoint.name} on Node`)
      const speeds = await race(urls, endpoint, large, effort)
      results.peers[endpoint.name] = Object.fromEntries(PEERS.map((peer, at) => [peer, speeds[at]]))
    }
  } finally {
    stop()
  }
}

progress('building the Worker')
mkdirSync(BUILD, { recursive: true })
const results: Results = { worker: buildService() }
if (wanted('startup')) {
  progress('loading the Worker afresh')
  results.startupMs = await measureStartup(flags.quick ? 3 : 7)
}
if (PARTS.slice(0, 5).some(wanted)) await runWorkers(results)
if (wanted('peers')) await runPeers(results)
progress('done')

printReport(results)
if (flags.json) writeFileSync(flags.json, `${JSON.stringify(results, null, 2)}\n`)
