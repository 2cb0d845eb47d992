// Mutation testing, not part of CI: changes one expression of src at a time, runs the tests that cover the file, and
// lists the mutants that no test catches. A survivor indicates a missing test or unnecessary code.
//   npm run mutate -- --files 'src/library/images/**' --count 10 --seed 42
// Or makes each mutation of a list, and runs the attack that must find it:
//   npm run mutate -- --list test/attacks/data/sync-mutations.ts --only cursor
import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

/** Tests whose names do not start with the name of a folder they cover. */
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

const isSyntaxValid = ({ after }: { after: string }) => {
  try {
    return stripTypeScriptTypes(after) !== ''
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
  return mutants.filter(isSyntaxValid)
}

const listTests = (file: string) => {
  const folders = file.split('/').slice(1, -1)
  const names = folders.flatMap((folder) => [folder, ...(MORE_TESTS[folder] ?? [])])
  const isCovering = (test: string) => names.some((name) => basename(test).startsWith(name))
  const tests = globSync('test/features/*/*.test.ts').filter(isCovering)
  return tests.length > 0 ? tests : ['test/features']
}

const option = (value: string) => ({ type: 'string', default: value }) as const
const options = {
  count: option('20'),
  seed: option(String(Date.now() % 1_000_000)),
  files: option('src/**/*.ts'),
  list: option(''),
  only: option(''),
}
const { count, seed, files, list, only } = parseArgs({ options }).values

const copy = mkdtempSync(join(tmpdir(), 'mutate-'))
const filter = (path: string) => !/^(?:\.git|node_modules|dist|\.wrangler)$/.test(path)
cpSync('.', copy, { recursive: true, filter })
symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))

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
const runTests = async (tests: string[], timeout: number) => {
  const timer = setTimeout(kill, timeout)
  const hasPassed = await run('vitest', ['run', '--bail', '1', ...tests])
  clearTimeout(timer)
  return hasPassed
}

/** `edits`: each text occurs once in its file, which is created if the text is empty. */
type Mutation = { rule: string; edits: [file: string, from: string, to: string][] }
type Report = { figures: [what: string, count: number][]; failures: string[] }
type List = { mutations: Mutation[]; command: string; environment: Record<string, string> }

const runList = async ({ mutations, command, environment }: List) => {
  const results = join(copy, 'dist/mutation.json')
  const survivors: string[] = []
  for (const { rule, edits } of mutations.filter(({ rule }) => rule.includes(only))) {
    const before = new Map(edits.map(([file, from]) => [file, from && readFileSync(join(copy, file), 'utf8')]))
    for (const [file, from, to] of edits) {
      const text = from && readFileSync(join(copy, file), 'utf8')
      if (text.split(from).length !== (from ? 2 : 0)) throw new Error(`${rule}: not once in ${file}: ${from}`)
      writeFileSync(join(copy, file), from ? text.replace(from, () => to) : to)
    }
    rmSync(results, { force: true })
    const hasSurvived = await run('npm', `run ${command} --seed ${seed} --json ${results}`.split(' '), environment)
    for (const [file, text] of before) text ? writeFileSync(join(copy, file), text) : rmSync(join(copy, file))
    const [{ figures, failures }] = Object.values(JSON.parse(readFileSync(results, 'utf8')).results) as [Report]
    if (hasSurvived) survivors.push(rule)
    console.log(
      `${hasSurvived ? 'SURVIVED' : 'found'} after ${figures[0]?.[1]}: ${rule}: ${failures[0]?.slice(0, 150)}`,
    )
  }
  console.log(`\n${survivors.length} survived, --seed ${seed}`)
  process.exit(survivors.length > 0 ? 1 : 0)
}
if (list) await runList(await import(resolve(list)))

const sources = globSync(files).filter((file) => file.endsWith('.ts'))
const candidates = sources.flatMap(listMutants)
const ranked = candidates.map((mutant, at) => ({ mutant, rank: hash('sha1', `${seed} ${at}`) }))
const sample = ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1)).slice(0, Number(count))
console.log(`${sample.length} of ${candidates.length} mutants, --seed ${seed}`)

const durations = new Map<string, number>()
const survivors: string[] = []
for (const [at, { mutant }] of sample.entries()) {
  const { file, line, before, after } = mutant
  const tests = listTests(file)
  const start = Date.now()
  if (!durations.has(`${tests}`)) {
    if (!(await runTests(tests, 600_000))) throw new Error(`${tests} fail without a mutant`)
    durations.set(`${tests}`, Date.now() - start)
  }
  writeFileSync(join(copy, file), after)
  // A mutant in an endless loop is stopped and counts as killed.
  const hasSurvived = await runTests(tests, 20_000 + 2 * (durations.get(`${tests}`) ?? 0))
  writeFileSync(join(copy, file), before)
  const [old, changed] = [before, after].map((code) => code.split('\n')[line - 1]?.trim())
  if (hasSurvived) survivors.push(`${file}:${line}\n- ${old}\n+ ${changed}`)
  console.log(`${at + 1}/${sample.length} ${hasSurvived ? 'SURVIVED' : 'killed'} ${file}:${line}`)
}
console.log([`\n${survivors.length} of ${sample.length} survived`, ...survivors].join('\n\n'))
