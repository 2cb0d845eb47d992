// `npm run attack [-- PART …] [--quick] [--seed N] [--json FILE]`: tries to break the service, and prints what it found.
// Each part attacks a service of its own, in workerd, over real sockets. Exits with 1 when anything gave way.
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { format, whole } from '../support/table'
import { BUILD, buildService } from '../support/workerd'
import { codes } from './codes'
import { crashes } from './crashes'
import { faults } from './faults'
import { forgery } from './forgery'
import { input } from './input'
import { isolation } from './isolation'
import { overload } from './overload'
import type { Findings, Part } from './part'
import { type Service, startService } from './service'
import { supply } from './supply'
import { uploads } from './uploads'
import { withdrawal } from './withdrawal'

const PARTS: Record<string, Part> = {
  input,
  isolation,
  forgery,
  codes,
  uploads,
  faults,
  crashes,
  overload,
  withdrawal,
  supply,
}

const USAGE = `Usage: npm run attack -- [PART …] [--quick] [--seed N] [--json FILE]
  PART     ${Object.keys(PARTS).join(', ')}; all of them by default
  --quick  a short form of each
  --seed   draws the same cases again
  --json   writes the figures to a file, too`

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { quick: { type: 'boolean', default: false }, seed: { type: 'string' }, json: { type: 'string' } },
    })
    const seed = Number(values.seed ?? Date.now() % 1_000_000)
    if (!Number.isSafeInteger(seed) || positionals.some((name) => !PARTS[name])) throw new Error()
    return { ...values, seed, names: positionals.length > 0 ? positionals : Object.keys(PARTS) }
  } catch {
    console.error(USAGE)
    return process.exit(2)
  }
}

const { quick, seed, json, names } = readArguments()
const start = performance.now()
const seconds = () => ((performance.now() - start) / 1000).toFixed(0)
const progress = (line: string) => console.error(`[${seconds().padStart(4)} s] ${line}`)

const IDENTIFIER = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

/** What a service logged, and should not have. */
const leaksOf = ({ lines, secrets, codes }: Service) => {
  const log = lines.join('\n')
  const digits = new Set(log.replace(IDENTIFIER, '').match(/\b\d{6}\b/g))
  return [
    ...[...secrets].filter((secret) => secret && log.includes(secret)),
    ...[...codes].filter((code) => digits.has(code)),
  ]
}

/** What holds of every service, whatever was done to it: what it logged, and the headers that it answered with. */
const inspect = (services: Service[]): Findings => {
  const lines = services.flatMap((service) => service.lines)
  const answers = services.reduce((sum, { answers }) => sum + answers.all - answers.foreign, 0)
  const unprotected = services.flatMap((service) => service.answers.unprotected)
  const leaks = services.flatMap(leaksOf)
  return {
    figures: [
      {
        tried: 'log lines without a password, a code, a token or an e-mail',
        times: lines.length,
        found: `${leaks.length} leaks`,
      },
      { tried: 'answers with all security headers', times: answers, found: `${unprotected.length} without` },
    ],
    failures: [
      ...leaks.map((secret) => `the log holds the secret ${secret}`),
      ...unprotected.map((request) => `${request}: an answer lacks a security header`),
    ],
  }
}

const runPart = async (name: string, part: Part): Promise<Findings> => {
  const services: Service[] = []
  try {
    const found = await part({
      quick,
      seed,
      progress: (line) => progress(`${name}: ${line}`),
      start: async (options) => {
        const service = await startService(options)
        services.push(service)
        return service
      },
    })
    const always = services.length > 0 ? inspect(services) : { figures: [], failures: [] }
    return { figures: [...found.figures, ...always.figures], failures: [...found.failures, ...always.failures] }
  } catch (error) {
    return { figures: [], failures: [error instanceof Error ? (error.stack ?? error.message) : String(error)] }
  } finally {
    for (const service of services) await service.stop()
  }
}

progress('building the Worker')
mkdirSync(BUILD, { recursive: true })
buildService()

const results: Record<string, Findings> = {}
for (const name of names) {
  const part = PARTS[name]
  if (!part) continue
  progress(`${name}: begins`)
  results[name] = await runPart(name, part)
}
progress('done')

const rows = Object.entries(results).flatMap(([name, { figures }]) =>
  figures.map(({ tried, times, found }) => [`${name}: ${tried}`, whole(times), found]),
)
console.log(`\n${format(['tried', 'times', 'found'], rows)}`)
const failed = Object.entries(results).filter(([, { failures }]) => failures.length > 0)
for (const [name, { failures }] of failed) {
  console.log(
    `\n${name}: ${failures.length} failed; to repeat: npm run attack -- ${name}${quick ? ' --quick' : ''} --seed ${seed}`,
  )
  for (const failure of failures.slice(0, 20)) console.log(`  ${failure}`)
  if (failures.length > 20) console.log(`  … and ${failures.length - 20} more`)
}
console.log(
  failed.length === 0 ? `\nNothing gave way (seed ${seed}).` : `\n${failed.length} of ${names.length} parts failed.`,
)
if (json) writeFileSync(json, `${JSON.stringify({ seed, quick, results }, null, 2)}\n`)
process.exit(failed.length === 0 ? 0 : 1)
