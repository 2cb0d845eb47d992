import { globSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { findExpensive, secondsWithin } from '../support/runner/costs.ts'
import { readTreeSeconds } from '../support/runner/cpu-time.ts'

it('runs the files of every folder of features and attacks', () => {
  const texts = ['vitest.config.ts', ...globSync('test/shared/*.test.ts')].map((path) => readFileSync(path, 'utf8'))
  const named = new Set(texts.flatMap((text) => text.match(/[\w-]+/g) ?? []))
  const folders = ['test/features', 'test/attacks'].flatMap((parent) =>
    readdirSync(parent).filter((name) => globSync(`${parent}/${name}/*.test.ts`).length > 0),
  )
  expect(folders.length).toBeGreaterThan(15)
  expect(folders.filter((name) => !named.has(name))).toEqual([])
})

it('pins the actions of workflows by commit', () => {
  const used = globSync('.github/workflows/*.yml').flatMap(
    (path) => readFileSync(path, 'utf8').match(/uses: .*/g) ?? [],
  )
  expect(used.length).toBeGreaterThan(3)
  expect(used.filter((use) => !/^uses: (?:\.\/.*|\S+@[\da-f]{40} # v\d+\.\d+\.\d+)$/.test(use))).toEqual([])
})

it('charges a test with the CPU time between its start and its end', () => {
  const samples = [0, 100, 200, 300].map((at) => ({ at, seconds: at < 200 ? at / 100 : 5 }))
  expect(secondsWithin(samples, { startTime: 0, duration: 100 })).toBe(1)
  expect(secondsWithin(samples, { startTime: 50, duration: 100 })).toBe(2.5)
  expect(secondsWithin(samples, { startTime: 200, duration: 5000 })).toBe(0)
})

it('finds tests that are expensive and not tagged, most expensive first', () => {
  const costs = [
    { name: 'cheap', tags: [], seconds: 0.5 },
    { name: 'expensive', tags: ['one-slot'], seconds: 0.6 },
    { name: 'most expensive', tags: [], seconds: 3 },
    { name: 'tagged', tags: ['slow'], seconds: 9 },
  ]
  expect(findExpensive(costs, 0.5).map(({ name }) => name)).toEqual(['most expensive', 'expensive'])
})

it.runIf(process.platform === 'linux')('counts the CPU time of this process', () => {
  const before = readTreeSeconds() ?? Number.NaN
  const start = process.cpuUsage()
  while (process.cpuUsage(start).user < 50_000);
  expect((readTreeSeconds() ?? Number.NaN) - before).toBeGreaterThanOrEqual(0.03)
})
