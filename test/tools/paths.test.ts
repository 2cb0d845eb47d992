// @module-tag slow
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { localPath } from '../../scripts/data/stores.ts'
import { JWT_SECRET, runScript } from './databases.ts'

const MISSING = 'there is no such file or folder'
const BELOW_A_FILE = 'a part of the path is a file, not a folder'
const A_FOLDER = 'it is a folder, not a file'
const NO_DATABASE = 'missing has no database: set --persist-to to the folder of the data'

/** In a folder with a `file`, a `folder`, and `data` whose database is a folder, as root may write to all files. `code`: of an import, 1 is for rows that failed. */
const CASES: [command: string, reason: string, code?: number][] = [
  ['dev --persist-to file/data', BELOW_A_FILE],
  ['serve --data file/data', BELOW_A_FILE],
  ['serve --data file', 'there is a file of this name'],
  ['db migrate --persist-to file/data', BELOW_A_FILE],
  ['db verify --local --persist-to missing', NO_DATABASE],
  ['db slots --local --persist-to missing', NO_DATABASE],
  ['db verify --local --persist-to data', A_FOLDER],
  ['members log --local --persist-to data', A_FOLDER],
  ['backup new --local --persist-to missing', NO_DATABASE],
  ['backup file/new --local --persist-to missing', BELOW_A_FILE],
  ['backup file --local --persist-to missing', BELOW_A_FILE],
  ['backup rehearse missing', 'missing does not exist'],
  ['backup rehearse file', BELOW_A_FILE],
  ['restore missing --local', 'missing does not exist'],
  ['restore folder --local', 'folder has no manifest.json'],
  ['members show mina@example.com --local --persist-to missing', NO_DATABASE],
  ['export --token TOKEN --out missing/library.json', 'There is no directory missing', 1],
  ['export --token TOKEN --out file/library.json', 'There is no directory file', 1],
  ['import missing.csv --token TOKEN', 'There is no file missing.csv', 2],
  ['import folder --token TOKEN', 'There is no file folder', 2],
  ['import file --token TOKEN --report missing/report', MISSING, 2],
  ['import file --token TOKEN --report folder --force', A_FOLDER, 2],
  ['bench --json missing/results.json', MISSING],
  ['bench --json folder', A_FOLDER],
  ['attack --json file/results.json', BELOW_A_FILE],
  ['mutate --list missing.ts', MISSING],
  ['mutate --tests folder', A_FOLDER],
  ['mutate --files missing/*.ts', 'No file matches missing/*.ts'],
]

const parent = mkdtempSync(join(tmpdir(), 'reading-library-'))
afterAll(() => rmSync(parent, { recursive: true }))

describe('a path that cannot be used is a sentence:', { concurrent: true }, () => {
  it.each(CASES)('npm run %s', async (command, reason, code = 1) => {
    const [name = '', ...args] = command.split(' ')
    const folder = mkdtempSync(join(parent, 'case-'))
    for (const path of [join(folder, 'folder'), localPath(join(folder, 'data'), 'DB')])
      mkdirSync(path, { recursive: true })
    writeFileSync(join(folder, 'file'), 'content')
    for (const file of ['wrangler.toml', 'wrangler.reader.toml', 'slots.json']) cpSync(file, join(folder, file))
    const before = readdirSync(folder)
    const ran = await runScript(name, folder, { JWT_SECRET }, args)
    const [line = '', ...others] = ran.stderr
      .replace(/^maxRSS.*\n/gm, '')
      .trim()
      .split('\n')
    expect({ code: ran.code, line, others }).toEqual({ code, line: expect.stringContaining(reason), others: [] })
    expect(readdirSync(folder)).toEqual(before)
  })
})
