// @module-tag slow
import { globSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runScript, SCRIPTS } from './databases.ts'

/** They take no options. */
const WITHOUT_OPTIONS = ['check', 'assets', 'openapi']

const DB_COMMANDS = globSync('scripts/db/*.ts').map((path) => ['db', basename(path, '.ts')])
const COMMANDS = [
  ...Object.keys(SCRIPTS)
    .filter((name) => !WITHOUT_OPTIONS.includes(name))
    .map((name) => [name]),
  ...DB_COMMANDS,
  ['backup', 'rehearse'],
  ['db', 'slots', 'rebuild'],
  ...['find', 'take-down', 'log', 'invite'].map((name) => ['members', name]),
]

const folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the help of', { concurrent: true }, () => {
  // Without settings, configuration or packages, of which help needs none.
  it.each(COMMANDS.map((command) => command.join(' ')))('npm run %s', async (command) => {
    const [name = '', ...args] = command.split(' ')
    const flag = args.length > 0 ? '-h' : '--help'
    const { code, stdout, stderr } = await runScript(name, folder, {}, [...args, flag])
    expect({ code, stderr: stderr.replace(/^maxRSS.*\n/gm, '') }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^Usage: npm (?:run )?${name.replace(':all', '')}\\b`))
    expect(readdirSync(folder)).toEqual([])
  })
})
