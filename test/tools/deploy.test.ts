import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'

it('a dry run of a deployment builds both Workers, within their limits', () => {
  const printed = execFileSync('npm', ['run', 'deploy', '--', '--dry-run'], { encoding: 'utf8' })
  expect(printed).toMatch(/^File reader: \d+ bytes, \d+ gzipped \(limit 180000\)$/m)
  expect(printed).toMatch(/^Worker: \d+ bytes, \d+ gzipped \(limit 180000\)$/m)
})
