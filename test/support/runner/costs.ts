// What each test costs, with COSTS=1: tests without the tag `slow` must be cheap, so that `npm test` stays quick.
import { pbkdf2Sync } from 'node:crypto'
import type { Reporter, TestModule } from 'vitest/node'
import { readTreeSeconds } from './cpu-time.ts'

/** CPU time that a test without the tag `slow` may use, on a machine that takes `REFERENCE_SECONDS` for `calibrate`. */
const MAX_SECONDS = 0.5
const REFERENCE_SECONDS = 0.03
/** In CI, other load and the random cases of a seed must not fail a test that is cheap elsewhere. */
const CI_FACTOR = 2
const SAMPLE_MS = 100
const LISTED = 20

/** The CPU time that some work takes in this process, in seconds. */
const secondsOf = (work: () => void) => {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}
const calibrate = () => secondsOf(() => pbkdf2Sync('password', 'salt', 100_000, 64, 'sha512'))

type Sample = { at: number; seconds: number }
type Span = { startTime: number; duration: number }

/** The CPU time used until a moment: between two samples, in proportion. */
const secondsAt = (samples: Sample[], at: number) => {
  const next = samples.findIndex((sample) => sample.at >= at)
  const [left, right] = [samples[next - 1], samples[next]]
  if (!left || !right) return (right ?? samples.at(-1))?.seconds ?? 0
  return left.seconds + ((right.seconds - left.seconds) * (at - left.at)) / (right.at - left.at)
}

/** The CPU time used in a span of time, in seconds. */
export const secondsWithin = (samples: Sample[], { startTime, duration }: Span) =>
  secondsAt(samples, startTime + duration) - secondsAt(samples, startTime)

type Cost = { name: string; tags: string[]; seconds: number }

/** The tests that cost too much for `npm test`, most expensive first. */
export const findExpensive = (costs: Cost[], limit: number) =>
  costs
    .filter(({ tags, seconds }) => seconds > limit && !tags.includes('slow'))
    .toSorted((one, other) => other.seconds - one.seconds)

/**
 * Attributes the CPU time of all processes of the run to the test that runs, so run one file at a time
 * (`--max-workers 1`). Fails the run if a test that is not tagged costs too much. Needs Linux's /proc.
 */
export const measureCosts = (): Reporter => {
  const samples: Sample[] = []
  /** That of sampling itself, which a test that waits would be charged for. */
  let overhead = 0
  const sample = () => {
    overhead += secondsOf(() => {
      const seconds = readTreeSeconds()
      if (seconds !== undefined) samples.push({ at: Date.now(), seconds: seconds - overhead })
    })
  }
  let timer: NodeJS.Timeout
  return {
    onTestRunStart: () => {
      sample()
      timer = setInterval(sample, SAMPLE_MS)
    },
    onTestRunEnd: (modules: readonly TestModule[]) => {
      clearInterval(timer)
      sample()
      const costs = modules.flatMap(({ children, relativeModuleId }) =>
        [...children.allTests()].flatMap((test): Cost[] => {
          const span = test.diagnostic()
          const name = `${relativeModuleId} > ${test.fullName}`
          return span ? [{ name, tags: test.tags, seconds: secondsWithin(samples, span) }] : []
        }),
      )
      const limit = MAX_SECONDS * Math.max(1, calibrate() / REFERENCE_SECONDS) * (process.env.CI ? CI_FACTOR : 1)
      const expensive = findExpensive(costs, limit)
      if (expensive.length === 0) return
      console.error(`\nTests that use over ${limit.toFixed(1)} s of CPU time need the tag slow, or a smaller case:`)
      for (const { name, seconds } of expensive.slice(0, LISTED)) console.error(`  ${seconds.toFixed(1)} s  ${name}`)
      process.exitCode = 1
    },
  }
}
