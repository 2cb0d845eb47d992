// @module-tag slow
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)

it('a sample of the attacks on files, dependencies, sync, and during crashes finds nothing', async () => {
  const names = ['supply', 'crashes', 'files', 'sync']
  const { stdout } = await run('npm', ['run', 'attack', '--', ...names, '--quick']).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`)
  })
  expect(stdout).toContain('No failures')
}, 600_000)
