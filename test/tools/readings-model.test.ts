import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'

it('has statements that agree with the rules of readings, and none that reads a whole library', () => {
  const options = ['--histories', '60', '--seed', '1', '--plans']
  const output = execFileSync('node', ['test/support/readings-model/run.mjs', ...options], { encoding: 'utf8' })
  expect(output).toMatch(/^60 histories, 1080 steps: the statements, the rules and the invariants agree\n/)
  expect(output).toMatch(/\nundoImport 7: /)
})
