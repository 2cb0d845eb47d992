// `npm test`: types, lint, and the tests that are not slow. `npm run test:all`: then the slow ones, too.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { readTreeSeconds } from '../test/support/runner/cpu-time.ts'
import { CI_ONLY, FURTHER, inProjects, NOT_SLOW, QUICK, SLOW } from '../test/support/runner/projects.ts'
import { exitOnHelp } from './options.ts'
import { print } from './print.ts'

exitOnHelp('npm test, without slow tests, or npm run test:all: test/README.md')

const isAll = process.argv[2] === '--all'
/** Whether to check what each test costs, which takes longer, as files run one at a time. */
const checksCosts = process.env.COSTS === '1'

/** A run of vitest that hangs ends here. */
const MAX_STEP_MS = 3_600_000

type Step = [name: string, command: string, ...args: string[]]

const REPORTS = 'dist/reports'
const MEMORY = '/dev/shm'
const MIN_MEMORY_BYTES = 4 * 2 ** 30
/** Keeps a report of the results, which .ci/run counts. */
const toVitest = (name: string, projects: string[], ...args: string[]): Step => [
  name,
  'vitest',
  'run',
  ...inProjects(projects),
  `--outputFile.json=${REPORTS}/${name}.json`,
  ...args,
]

/** Files that could not have a test of a run are left out: vitest loads all others to find out, some in a Worker each. */
const findFiles = (tag: string) =>
  globSync('test/*/**/*.test.ts').filter((path) => readFileSync(path, 'utf8').includes(tag))
const onlySlow = findFiles('// @module-tag slow').map((path) => `--exclude=${path}`)
const withSlow = ['test/shared', ...findFiles('slow')]
const quick = toVitest('quick', QUICK, NOT_SLOW, ...onlySlow, ...(checksCosts ? ['--maxWorkers', '1'] : []))
const slow = toVitest('slow', QUICK, SLOW, ...withSlow, ...(checksCosts ? ['--maxWorkers', '2'] : []))
const further = toVitest('further', [...FURTHER, ...(process.env.CI ? CI_ONLY : [])])
/** Otherwise the first tests would wait for it: test/clients/install.ts. */
const install: Step = ['install', 'npm', 'ci', '--prefix', 'test/clients']
/** Lanes run beside each other, the steps of one after another. */
type Stage = Step[][]
/** One file at a time leaves a core idle. */
const ALL: Stage[] = checksCosts ? [[[quick], [slow, further]]] : [[[quick, slow, further]]]
const STAGES: Stage[] = [
  [
    [['check', 'npm', 'run', '--silent', 'check']],
    [['lint', 'node', 'scripts/lint-openapi.ts']],
    ...(isAll && process.env.CI ? [[install]] : []),
  ],
  ...(isAll ? ALL : [[[quick]]]),
]

/** A folder in memory, where local databases write two to three times as fast. Undefined if there is not enough. */
const createMemoryFolder = () => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > MIN_MEMORY_BYTES ? mkdtempSync(`${MEMORY}/reading-library-`) : undefined
  } catch {
    return undefined
  }
}

rmSync(REPORTS, { recursive: true, force: true })
const folder = createMemoryFolder()
/** Runs a step. What those of further lanes print follows at their end. */
const hasFailed = async ([name, command, ...args]: Step, isFurther: boolean) => {
  const env = {
    ...process.env,
    // tsc and esbuild, which are written in Go, collect garbage less often.
    GOGC: '400',
    ...(folder && { TMPDIR: folder }),
    ...(name !== 'quick' && { COSTS: undefined }),
  }
  const stdout = isFurther ? 'pipe' : 'inherit'
  const child = spawn(command, args, { stdio: ['inherit', stdout, 'inherit'], env, timeout: MAX_STEP_MS })
  const printed = child.stdout && text(child.stdout)
  const [status] = await once(child, 'close')
  process.stdout.write((await printed) ?? '')
  return status !== 0
}

/** All steps run, so that one failure does not hide others. */
const failed: string[] = []
const runLane = async (lane: Step[], isFurther: boolean) => {
  for (const step of lane) if (await hasFailed(step, isFurther)) failed.push(step[0])
}
for (const lanes of STAGES) await Promise.all(lanes.map((lane, number) => runLane(lane, number > 0)))
if (folder) rmSync(folder, { recursive: true, force: true })
const seconds = readTreeSeconds()
if (seconds !== undefined) print(`CPU time, user and system: ${seconds.toFixed(0)} s`)
for (const name of failed) print(`Failed: ${name}`)
process.exitCode = failed.length > 0 ? 1 : 0
