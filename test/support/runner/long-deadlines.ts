import { DEADLINES } from '../../../src/runtime/deadlines'

// No test reaches these on a busy machine. Tests of deadlines hold the clock: test/support/runtime/clock.ts
for (const name of Object.keys(DEADLINES) as (keyof typeof DEADLINES)[]) {
  // Nothing waits for this one, but requests during work that is left from others make vitest's runner hang.
  const factor = name === 'storing' ? 0 : 20
  Object.assign(DEADLINES, { [name]: factor * DEADLINES[name] })
}
