// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

it('a dry run of a deployment builds both Workers, within their limits', () => {
  const printed = execFileSync('npm', ['run', 'deploy', '--', '--dry-run'], { encoding: 'utf8' })
  expect(printed).toMatch(/^File reader: \d+ bytes, \d+ gzipped \(limit 200000\)$/m)
  expect(printed).toMatch(/^Worker: \d+ bytes, \d+ gzipped \(limit 200000\)$/m)
})

it.each([['--dry-run'], ['--rollback'], ['--percentage=10']])('does not deploy if npm keeps %s for itself', (flag) => {
  const env = { ...process.env, CLOUDFLARE_API_TOKEN: '', HOME: '/nowhere' }
  const { status, stderr } = spawnSync('npm', ['run', 'deploy', flag], { encoding: 'utf8', env })
  expect([status, stderr]).toEqual([1, expect.stringContaining('npm run deploy -- --')])
})
