// Mutation testing: changes one expression of src at a time, runs tests until one fails, and lists the mutants that no test
// finds. A survivor indicates a missing test or unnecessary code. Tests that share a name with the file run first.
//   npm run mutate -- --files 'src/library/images/**' --count 10 --seed 42
//   npm run mutate -- --all     # also runs what only `npm run test:all` does, on mutants that `npm test` does not find
// Or makes each mutation of a list, and runs the tests or the attack that must find it:
//   npm run mutate -- --list test/attacks/data/sync-mutations.ts --only cursor
import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { FURTHER, inProjects, NOT_SLOW, QUICK, SLOW } from '../test/support/runner/projects.ts'
import { parseOptions } from './options.ts'
import { exitUnless, requireFile } from './paths.ts'
import { print } from './print.ts'

/** Tests whose names do not start with the name of a file or folder that they cover. */
const MORE_TESTS: Record<string, string[]> = {
  books: ['views'],
  images: ['uploads'],
  members: ['sign-up', 'verification', 'floods'],
  memos: ['random-memo'],
}

const PAIRS = '< <= > >= === !== && || + - true false'.split(' ')
const swap = (found: string) => PAIRS[PAIRS.indexOf(found) ^ 1] ?? ''
// Operators have spaces around them, unlike type arguments: the code is formatted.
const OPERATORS: [pattern: RegExp, replace: (found: string) => string][] = [
  [/(?<= )(?:[<>]=?|[=!]==|&&|\|\||[+-])(?= )|\b(?:true|false)\b/g, swap],
  [/(?<![\w)])!(?=[\w(])/g, () => ''],
  [/(?<![\w.])(?:0x[\da-f_]+|\d[\d_]*)(?![\w.])/g, (found) => String(Number(found.replaceAll('_', '')) + 1)],
  [/(?<=^ +)(?:if \(.*\) )?(?:return|throw)\b.*(?<![({[=>?:&|,])$/gm, () => ''],
]

// Comments, strings, templates, regular expressions, imports and types are not mutated.
const SKIPPED = [
  /\/\/.*|\/\*[\s\S]*?\*\//,
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/,
  /(?<=[=(,:[] ?)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/,
  /^(?:import|(?:export )?type|export \*)\b.*/,
]
const SKIPPED_PATTERN = new RegExp(SKIPPED.map(({ source }) => source).join('|'), 'gm')

/** Whether the code without types is valid, and differs. */
const isChange = ({ before, after }: { before: string; after: string }) => {
  try {
    return stripTypeScriptTypes(after) !== stripTypeScriptTypes(before)
  } catch {
    return false
  }
}
const listMutants = (file: string) => {
  const before = readFileSync(file, 'utf8')
  const code = before.replace(SKIPPED_PATTERN, (found) => found.replace(/[^\n]/g, ' '))
  const mutants = OPERATORS.flatMap(([pattern, replace]) =>
    [...code.matchAll(pattern)].map(({ 0: found, index }) => {
      const after = before.slice(0, index) + replace(found) + before.slice(index + found.length)
      return { file, before, after, line: before.slice(0, index).split('\n').length }
    }),
  )
  return mutants.filter(isChange)
}

/** The projects that run a file of tests by itself, or those of an area. */
const SINGLE_FILES = ['worker', 'file']
const listLikelyTests = (file: string) => {
  const parts = file.replace(/\.ts$/, '').split('/').slice(1)
  const names = parts.flatMap((part) => [part, ...(MORE_TESTS[part] ?? [])])
  return globSync('test/features/*/*.test.ts').filter((test) => names.some((name) => basename(test).startsWith(name)))
}

const AREAS = ['accounts', 'library', 'transfer']
/** The file that runs all tests of the area of a file in one Worker. */
const listAreaTests = (file: string) => {
  const area = AREAS.find((name) => file.startsWith(`src/${name}/`)) ?? 'operations'
  return [`test/shared/${area}.test.ts`]
}

const option = (value: string) => ({ type: 'string', default: value }) as const
const options = {
  count: option('20'),
  seed: option(String(Date.now() % 1_000_000)),
  files: option('src/**/*.ts'),
  tests: option(''),
  all: { type: 'boolean', default: false } as const,
  list: option(''),
  only: option(''),
}
const USAGE = `npm run mutate -- [--count N] [--seed N] [--files GLOB] [--tests FILE | --all] | --list FILE [--only RULE]
  --count  mutants to try; default: 20
  --files  what to mutate; default: src/**/*.ts
  --tests  a file of tests; default: what npm test runs
  --all    also runs what only npm run test:all does, on mutants that npm test does not find
  --list   makes each mutation of a list, and runs the tests or the attack that must find it`
const { count, seed, files, list, only, ...flags } = parseOptions({ options }, USAGE).values
exitUnless(() => {
  for (const file of [list, flags.tests]) if (file) requireFile(file)
  if (!list && globSync(files).length === 0) throw new Error(`No file matches ${files}`)
})

const copy = mkdtempSync(join(tmpdir(), 'mutate-'))
const PACKAGES = globSync('{.,test/*,test/*/*}/node_modules')
const filter = (path: string) => !/^(?:\.git|dist|\.wrangler)$/.test(path) && basename(path) !== 'node_modules'
// An older lock file would be newer than the packages that were installed from it.
cpSync('.', copy, { recursive: true, filter, preserveTimestamps: true })
for (const folder of PACKAGES) symlinkSync(resolve(folder), join(copy, folder))

let child: ChildProcess | undefined
// Kills the process group, as workerd is a child of vitest.
const kill = () => child?.pid && process.kill(-child.pid, 'SIGKILL')
process.on('exit', kill)
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const run = async (command: string, args: string[], env = {}) => {
  child = spawn(command, args, { cwd: copy, detached: true, stdio: 'ignore', env: { ...process.env, ...env } })
  const code = await new Promise((done) => child?.on('close', done))
  child = undefined
  return code === 0
}
/** Runs tests with options of vitest until one fails. Returns which, or undefined if all pass. */
const findFailure = async (args: string[], timeout: number) => {
  const results = join(copy, 'dist/mutant.json')
  rmSync(results, { force: true })
  const timer = setTimeout(kill, timeout)
  const flags = ['--bail=1', '--passWithNoTests', '--reporter=json', `--outputFile=${results}`]
  // The same random cases for each mutant.
  const hasPassed = await run('vitest', ['run', ...args, ...flags], { SEED: seed })
  clearTimeout(timer)
  if (hasPassed) return undefined
  // A mutant in an endless loop is stopped, and found.
  if (!existsSync(results)) return 'no result'
  const { testResults }: TestResults = JSON.parse(readFileSync(results, 'utf8'))
  const failures = testResults.filter(({ status }) => status === 'failed')
  const tests = failures.flatMap(({ name, assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => ({ name, what: fullName })),
  )
  // Without a failed test, a file could not run: `bail` ends others, which count as failed, too.
  const [first] = [...tests, ...failures.map(({ name, message }) => ({ name, what: message.split('\n')[0] }))]
  return first ? `${relative(copy, first.name)}: ${first.what}` : 'no test'
}
type TestResults = {
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { fullName: string; status: string }[]
  }[]
}

/** `edits`: each text occurs once in its file, which is created if the text is empty. */
type Mutation = { rule: string; edits: [file: string, from: string, to: string][] }
type Report = { figures: [what: string, count: number][]; failures: string[] }
/** Mutations that a file of tests finds, or an attack, the name of which is a `command`. */
type List = { mutations: Mutation[] } & ({ tests: string[] } | { command: string; environment: Record<string, string> })

/** Runs what must fail. Returns how it failed, or undefined if it passed. */
const findFailureOf = async (list: List) => {
  if ('tests' in list) return findFailure([NOT_SLOW, ...inProjects(SINGLE_FILES), ...list.tests], 600_000)
  const results = join(copy, 'mutation.json')
  rmSync(results, { force: true })
  const hasPassed = await run(
    'npm',
    `run ${list.command} --seed ${seed} --json ${results}`.split(' '),
    list.environment,
  )
  if (hasPassed) return undefined
  const [{ figures, failures }] = Object.values(JSON.parse(readFileSync(results, 'utf8')).results) as [Report]
  return `after ${figures[0]?.[1]}: ${failures[0]?.slice(0, 150)}`
}

const runList = async (list: List) => {
  const survivors: string[] = []
  for (const { rule, edits } of list.mutations.filter(({ rule }) => rule.includes(only))) {
    const before = new Map(edits.map(([file, from]) => [file, from && readFileSync(join(copy, file), 'utf8')]))
    for (const [file, from, to] of edits) {
      const text = from && readFileSync(join(copy, file), 'utf8')
      if (text.split(from).length !== (from ? 2 : 0)) throw new Error(`${rule}: not once in ${file}: ${from}`)
      writeFileSync(join(copy, file), from ? text.replace(from, () => to) : to)
    }
    const failure = await findFailureOf(list)
    for (const [file, text] of before) text ? writeFileSync(join(copy, file), text) : rmSync(join(copy, file))
    if (!failure) survivors.push(rule)
    print(failure ? `found: ${rule}: ${failure}` : `SURVIVED: ${rule}`)
  }
  print(`\n${survivors.length} survived, --seed ${seed}`)
  process.exit(survivors.length > 0 ? 1 : 0)
}
if (list) await runList(await import(resolve(list)))

const sources = globSync(files).filter((file) => file.endsWith('.ts'))
const candidates = sources.flatMap(listMutants)
const ranked = candidates.map((mutant, at) => ({ mutant, rank: hash('sha1', `${seed} ${at}`) }))
ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1))
const total = Math.min(Number(count), ranked.length)
print(`${total} of ${candidates.length} mutants, --seed ${seed}`)

type Phase = { name: string; args: string[]; likely?: string[] }
/** `likely`: the options for single files, which may be of those that share a Worker. */
const PHASES: Phase[] = flags.tests
  ? [{ name: flags.tests, args: [flags.tests] }]
  : [{ name: 'npm test', args: [NOT_SLOW, ...inProjects(QUICK)], likely: [NOT_SLOW, ...inProjects(SINGLE_FILES)] }]
if (flags.all) {
  PHASES.push({ name: 'slow tests', args: [SLOW, ...inProjects(QUICK)] })
  PHASES.push({ name: 'further projects', args: inProjects(FURTHER) })
}
/** The longest that each phase may take. */
const timeouts = new Map<Phase, number>()
for (const phase of PHASES) {
  const start = Date.now()
  const failure = await findFailure(phase.args, 3_600_000)
  if (failure) throw new Error(`Fails without a mutant: ${failure}`)
  timeouts.set(phase, 60_000 + 3 * (Date.now() - start))
}

const compiles = () =>
  run('tsc', '-p . --singleThreaded --incremental --tsBuildInfoFile dist/mutant.tsbuildinfo'.split(' '))

/** Returns the phase and the test that find a mutant. */
const findMutant = async (file: string) => {
  for (const phase of PHASES) {
    const likely = phase.likely ? [listLikelyTests(file), listAreaTests(file)] : []
    const runs = [
      ...likely.filter((tests) => tests.length > 0).map((tests) => [...(phase.likely ?? []), ...tests]),
      phase.args,
    ]
    for (const args of runs) {
      const failure = await findFailure(args, timeouts.get(phase) ?? 0)
      if (failure) return { name: phase.name, failure }
    }
  }
  return undefined
}

const found = new Map<string, number>()
const survivors: string[] = []
let done = 0
for (const { mutant } of ranked) {
  if (done === total) break
  const { file, line, before, after } = mutant
  writeFileSync(join(copy, file), after)
  const outcome = (await compiles()) && { by: await findMutant(file) }
  writeFileSync(join(copy, file), before)
  if (!outcome) continue
  done += 1
  const { by } = outcome
  const [old, changed] = [before, after].map((code) => code.split('\n')[line - 1]?.trim())
  const change = `${file}:${line}\n  - ${old}\n  + ${changed}`
  if (by) found.set(by.name, (found.get(by.name) ?? 0) + 1)
  else survivors.push(change)
  print(`${done}/${total} ${by ? `found by ${by.name}: ${by.failure}` : 'SURVIVED'}: ${change}`)
}
const counts = PHASES.map(({ name }) => `${found.get(name) ?? 0} found by ${name}`)
print([`\n${done} mutants: ${counts.join(', ')}, ${survivors.length} survived`, ...survivors].join('\n\n'))
