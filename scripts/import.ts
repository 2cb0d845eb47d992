// `npm run import`: sends a file of another service to a running service, and reports the result of each row.
import { closeSync, existsSync, fchmodSync, openAsBlob, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { exitOnHelp } from './options.ts'
import { requireWritable } from './paths.ts'
import { print, printable, printError } from './print.ts'
import { fail, readService, SERVICE_OPTIONS, SERVICE_USAGE } from './transfer/arguments.ts'
import { importFile, listImports, undoImport } from './transfer/import-file.ts'

const MAX_PRINTED = 40

const USAGE = `npm run import -- FILE [OPTION …]
       npm run import -- --list | --undo ID
${SERVICE_USAGE}
  --dry-run      reports what the import would do and change
  --merge        overwrite: replaces what the library has (default fill: fills what is empty)
  --format       such as goodreads (default: detected from the content)
  --encoding     such as euc-kr (default: detected from the content)
  --map          what a shelf means, such as 'on hold=PAUSED': YET, ING, DONE, STOPPED, PAUSED or TAG; may be repeated
  --column       the column of a field, such as 'title=책 이름'; may be repeated
  --keep-visibility  keeps memos public that the file marks as public: links to memos show them (a terminal asks)
  --report       writes all problems and changes to a file; otherwise the first ${MAX_PRINTED} lines are printed
  --force        replaces FILE.failed.csv, and the file of --report
  --list         lists the last imports
  --undo         cancels an import, and removes and restores what was not changed since
Rows that failed are written to FILE.failed.csv, to correct and import. The exit code is 1 if there are any.`

/** As MAX_FILE_BYTES of the service. */
const MAX_BYTES = 10 * 1024 * 1024

const text = { type: 'string' } as const
const texts = { type: 'string', multiple: true } as const
const readArguments = () => {
  const options = {
    ...SERVICE_OPTIONS,
    'dry-run': { type: 'boolean', default: false },
    merge: text,
    'keep-visibility': { type: 'boolean' },
    format: text,
    encoding: text,
    map: texts,
    column: texts,
    report: text,
    force: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    undo: text,
  } as const
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options })
    const [path = '', ...others] = positionals
    const needsFile = !values.list && values.undo === undefined
    if (others.length > 0 || needsFile !== Boolean(path)) throw new Error('Name one file, or --list, or --undo ID.')
    return { ...values, path }
  } catch (error) {
    return fail(`${(error as Error).message}\nUsage: ${USAGE}`)
  }
}

const checkFile = (path: string) => {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile()) return fail(`There is no file ${path}.`)
  if (stats.size === 0) return fail(`${path} is empty.`)
  if (stats.size > MAX_BYTES) return fail(`${path} is larger than 10 MiB: split it.`)
}

/** Writes a file that only its owner can read: it has personal data. */
const writePrivate = (path: string, text: string, isForced: boolean) => {
  const file = openSync(path, isForced ? 'w' : 'wx', 0o600)
  fchmodSync(file, 0o600)
  writeFileSync(file, text)
  closeSync(file)
}

const printAll = (lines: string[]) => {
  for (const line of lines) print(line)
  process.exit(0)
}

/** Asks first if the file may have public memos: if it is another person's, links would show their memos at once. */
const askVisibility = async (path: string) => {
  // UTF-16 has NUL between letters.
  const mayHavePublic = /p\0?u\0?b\0?l\0?i\0?c/i.test(readFileSync(path, 'latin1'))
  if (!mayHavePublic || !process.stdin.isTTY || !process.stderr.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(
    'Keep memos public that the file marks as public? Links to memos show them. [y/N] ',
  )
  terminal.close()
  return /^y(?:es)?$/i.test(answer.trim())
}

exitOnHelp(USAGE)
const { path, url, token, list, undo, ...options } = readArguments()
const { 'dry-run': dryRun, 'keep-visibility': isKept, report: reportPath, force, ...flags } = options
const service = readService({ url, token })
const failWith = (error: Error) => fail(error.message)
if (list) printAll(await listImports({ ...service, fetch }).catch(failWith))
if (undo !== undefined) printAll(await undoImport({ ...service, fetch }, undo).catch(failWith))
checkFile(path)
const failedPath = `${path}.failed.csv`
for (const each of [failedPath, reportPath])
  if (each !== undefined && !force && existsSync(each)) fail(`${each} exists: pass --force to replace it.`)
for (const each of dryRun ? [] : [failedPath, reportPath])
  if (each !== undefined) await Promise.try(requireWritable, each).catch(failWith)
const keepVisibility = isKept ?? (await askVisibility(path))
const { ended, problems, changes, failedCsv } = await importFile({
  ...service,
  fetch,
  file: await openAsBlob(path),
  name: basename(path),
  flags: { ...flags, dryRun, keepVisibility },
  report: (line) => printError(line),
}).catch(failWith)

const { status, reason, counts } = ended
const outcomes = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`)
print(outcomes.join(', '))
const lines = [...problems, ...changes]
if (reportPath !== undefined) writePrivate(reportPath, lines.map((line) => `${line}\n`).join(''), force)
for (const line of lines.slice(0, MAX_PRINTED)) print(line)
const others = lines.length - MAX_PRINTED
if (others > 0) print(`and ${others} more: ${reportPath ?? 'write all of them with --report FILE'}`)
if (dryRun) print('Nothing was written: it was a dry run.')
if (failedCsv !== undefined) {
  writePrivate(failedPath, failedCsv, force)
  print(`The rows that failed: ${failedPath}`)
}
if (status === 'FAILED') print(`The import failed: ${printable(reason ?? 'it was cancelled')}`)
process.exitCode = status === 'FAILED' || counts.failed > 0 ? 1 : 0
