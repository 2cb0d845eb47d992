import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readCommands } from '../support/document/commands.ts'
import { ATTACK_RUNS, BENCHMARK_RUNS, ELSEWHERE, NOT_RUN, SHORT_RUNS } from './commands.ts'
import { benchmarkParts, itRuns } from './run.ts'

const DOCUMENTS = globSync(['*.md', 'docs/**/*.md', 'test/*.md'])
const isRunbook = (path: string) => /^docs.(?:deploy|operations)\.md$/.test(path)
const PACKAGE_COMMAND = /\bnp(?:m\s+run|x)\s+\w+/g

const runbook = DOCUMENTS.filter(isRunbook).flatMap(readCommands)
const documented = DOCUMENTS.filter((path) => !isRunbook(path))
  .flatMap(readCommands)
  .flatMap(({ text }) => text.split(' && '))
  .filter((text) => /\bnp[mx] /.test(text))

describe('the commands of the documents', () => {
  const listed = [
    ...[...SHORT_RUNS, ...BENCHMARK_RUNS, ...ATTACK_RUNS].flatMap(({ commands }) => commands),
    ...[...ELSEWHERE, ...NOT_RUN].map(([command]) => command),
  ]

  it('are all found', () => {
    const count = (texts: string[]) => texts.flatMap((text) => text.match(PACKAGE_COMMAND) ?? []).length
    const counts = DOCUMENTS.map((path) => [path, count(readCommands(path).map(({ text }) => text))])
    expect(counts).toEqual(DOCUMENTS.map((path) => [path, count([readFileSync(path, 'utf8')])]))
  })

  it('are all run, or have a reason', () => {
    const isInRunbook = (command: string) =>
      runbook.some(({ text }) => text === command || text.startsWith(`${command} `))
    expect(documented.filter((command) => !isInRunbook(command) && !listed.includes(command))).toEqual([])
  })

  it('are named by the documents', () => {
    expect(listed.filter((command) => !documented.includes(command) && command !== 'npm run smoke')).toEqual([])
    expect(ELSEWHERE.filter(([, file]) => !existsSync(file))).toEqual([])
  })

  it('include every part of the benchmark', () => {
    const { stderr } = spawnSync('npm', ['run', 'bench', '--', 'no-such-part'], { encoding: 'utf8' })
    const [, parts] = /PART +(.*);/.exec(stderr) ?? []
    expect(parts?.split(', ')).toEqual(benchmarkParts())
  })
})

itRuns(SHORT_RUNS)
