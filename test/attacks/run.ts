// `npm run attack`: runs the attack suites against the service in workerd, over real sockets. Exits with 1 on failure.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { failWithUsage, parseOptions } from '../../scripts/options.ts'
import { exitUnless, requireWritable } from '../../scripts/paths.ts'
import { exitOnSignals } from '../../scripts/wrangler/run.ts'
import { FOLDERS } from '../support/attack-suites'
import { formatTable, whole } from '../support/service/table'
import { buildService } from '../support/service/workerd'
import { type Attack, mergeReports, type Report } from './harness/attack'
import { type Service, startService } from './harness/service'

const FOLDER_OF = new Map(Object.entries(FOLDERS).flatMap(([folder, names]) => names.map((name) => [name, folder])))
const NAMES = [...FOLDER_OF.keys()]

const MAX_SLOTS = 64

const USAGE = `npm run attack -- [NAME …] [--quick] [--slots N] [--seed N] [--json FILE]
  NAME     ${NAMES.join(', ')}; default: all
  --quick  runs fewer cases of each attack
  --slots  spreads members over N databases, from 2; new ones are in slot 1
  --seed   repeats the random cases of an earlier run; default: SEED of the environment, or random
  --json   also writes the results to a file, beside those of other attacks`

const options = {
  quick: { type: 'boolean', default: false },
  slots: { type: 'string', default: '1' },
  seed: { type: 'string' },
  json: { type: 'string' },
} as const

const readArguments = () => {
  const { values, positionals } = parseOptions({ allowPositionals: true, options }, USAGE)
  const seed = Number(values.seed ?? process.env.SEED ?? Date.now() % 1_000_000)
  const slots = Number(values.slots)
  const isValid = Number.isSafeInteger(seed) && Number.isInteger(slots) && slots >= 1 && slots <= MAX_SLOTS
  if (!isValid || !positionals.every((name) => NAMES.includes(name))) failWithUsage(USAGE)
  return { ...values, seed, slots, names: positionals.length > 0 ? positionals : NAMES }
}

exitOnSignals()
const { quick, seed, slots, json, names } = readArguments()
exitUnless(() => json && requireWritable(json))
const start = performance.now()
const progress = (line: string) =>
  console.error(`[${((performance.now() - start) / 1000).toFixed(0).padStart(4)} s] ${line}`)

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

/** The secrets that a service logged. */
const findLeaks = ({ lines, secrets, codes }: Service) => {
  const log = lines.join('\n')
  const sixDigits = new Set(log.replace(UUID, '').match(/\b\d{6}\b/g))
  return [
    ...[...secrets].filter((secret) => secret && log.includes(secret)),
    ...[...codes].filter((code) => sixDigits.has(code)),
  ]
}

/** What must hold for every service after every attack: no secret in the log, security headers on every response. */
const inspectServices = (services: Service[]): Report => {
  const lines = services.reduce((sum, { lines }) => sum + lines.length, 0)
  const responses = services.reduce((sum, { responses }) => sum + responses.total - responses.notFromWorker, 0)
  const unprotected = services.flatMap(({ responses }) => responses.unprotected)
  const leaks = services.flatMap(findLeaks)
  return {
    figures: [
      ['log lines searched for passwords, codes, tokens and e-mails', lines, `${leaks.length} leaks`],
      ['responses checked for security headers', responses, `${unprotected.length} without`],
    ],
    failures: [
      ...leaks.map((secret) => `the log contains the secret ${secret}`),
      ...unprotected.map((request) => `${request}: the response lacks a security header`),
    ],
  }
}

const runAttack = async (name: string): Promise<Report> => {
  const services: Service[] = []
  try {
    const { [name]: attack }: { [name: string]: Attack } = await import(`./${FOLDER_OF.get(name)}/${name}`)
    if (!attack) throw new Error(`${FOLDER_OF.get(name)}/${name}.ts exports no attack named ${name}`)
    const report = await attack({
      quick,
      seed,
      slots,
      progress: (line) => progress(`${name}: ${line}`),
      start: async (options) => {
        services.push(await startService({ slots, ...options }))
        return services.at(-1) as Service
      },
    })
    return services.length > 0 ? mergeReports(report, inspectServices(services)) : report
  } catch (error) {
    return { figures: [], failures: [error instanceof Error ? (error.stack ?? error.message) : String(error)] }
  } finally {
    for (const service of services) await service.stop()
  }
}

progress(`building the Worker (seed ${seed}, slots ${slots})`)
buildService()

const results: Record<string, Report> = {}
/** Written after each attack, as all of them take hours. */
const writeResults = (file: string) => {
  const earlier = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).results : {}
  writeFileSync(file, `${JSON.stringify({ seed, quick, slots, results: { ...earlier, ...results } }, null, 2)}\n`)
}
for (const name of names) {
  progress(`${name}: started`)
  results[name] = await runAttack(name)
  if (json) writeResults(json)
}
progress('done')

const rows = Object.entries(results).flatMap(([name, { figures }]) =>
  figures.map(([what, count, result]) => [`${name}: ${what}`, whole(count), result]),
)
console.log(`\n${formatTable(['attack', 'count', 'result'], rows)}`)
const failed = Object.entries(results).filter(([, { failures }]) => failures.length > 0)
for (const [name, { failures }] of failed) {
  const options = `${name}${quick ? ' --quick' : ''}${slots > 1 ? ` --slots ${slots}` : ''} --seed ${seed}`
  console.log(`\n${name}: ${failures.length} failures. To repeat: npm run attack -- ${options}`)
  for (const failure of failures.slice(0, 20)) console.log(`  ${failure}`)
  if (failures.length > 20) console.log(`  … and ${failures.length - 20} more`)
}
const verdict = failed.length === 0 ? 'No failures' : `${failed.length} of ${names.length} attacks failed`
console.log(`\n${verdict} (seed ${seed}).`)
process.exit(failed.length === 0 ? 0 : 1)
