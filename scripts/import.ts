// `npm run import`: sends a file of another service to a running service, and reports the result of each row.
import { openAsBlob, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { print, printable, printError } from './print.ts'
import { fail, readService, SERVICE_OPTIONS, SERVICE_USAGE } from './transfer/arguments.ts'
import { importFile, listImports, undoImport } from './transfer/import-file.ts'

const MAX_PRINTED = 40

const USAGE = `Usage: npm run import -- FILE [OPTION …]
       npm run import -- --list | --undo ID
${SERVICE_USAGE}
  --dry-run      reports what the import would do and change
  --merge        overwrite: replaces what the library has (default fill: fills what is empty)
  --format       such as goodreads (default: detected from the content)
  --encoding     such as euc-kr (default: detected from the content)
  --map          what a shelf means, such as 'on hold=PAUSED': YET, ING, DONE, STOPPED, PAUSED or TAG; may be repeated
  --column       the column of a field, such as 'title=책 이름'; may be repeated
  --report       writes all problems and changes to a file; otherwise the first ${MAX_PRINTED} lines are printed
  --list         lists the last imports
  --undo         cancels an import, and removes and restores what was not changed since
  --help         prints this
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
    format: text,
    encoding: text,
    map: texts,
    column: texts,
    report: text,
    list: { type: 'boolean', default: false },
    undo: text,
    help: { type: 'boolean', default: false },
  } as const
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options })
    if (values.help) {
      print(USAGE)
      process.exit(0)
    }
    const [path = '', ...others] = positionals
    const needsFile = !values.list && values.undo === undefined
    if (others.length > 0 || needsFile !== Boolean(path)) throw new Error('Name one file, or --list, or --undo ID.')
    return { ...values, path }
  } catch (error) {
    return fail(`${(error as Error).message}\n${USAGE}`)
  }
}

const checkFile = (path: string) => {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile()) return fail(`There is no file ${path}.`)
  if (stats.size === 0) return fail(`${path} is empty.`)
  if (stats.size > MAX_BYTES) return fail(`${path} is larger than 10 MiB: split it.`)
}

const printAll = (lines: string[]) => {
  for (const line of lines) print(line)
  process.exit(0)
}

const { path, 'dry-run': dryRun, url, token, report: reportPath, list, undo, help: _, ...flags } = readArguments()
const service = readService({ url, token })
const failWith = (error: Error) => fail(error.message)
if (list) printAll(await listImports({ ...service, fetch }).catch(failWith))
if (undo !== undefined) printAll(await undoImport({ ...service, fetch }, undo).catch(failWith))
checkFile(path)
const { ended, problems, changes, failedCsv } = await importFile({
  ...service,
  fetch,
  file: await openAsBlob(path),
  name: basename(path),
  flags: { ...flags, dryRun },
  report: (line) => printError(line),
}).catch(failWith)

const { status, reason, counts } = ended
const outcomes = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`)
print(outcomes.join(', '))
const lines = [...problems, ...changes]
if (reportPath !== undefined) writeFileSync(reportPath, lines.map((line) => `${line}\n`).join(''))
for (const line of lines.slice(0, MAX_PRINTED)) print(line)
const others = lines.length - MAX_PRINTED
if (others > 0) print(`and ${others} more: ${reportPath ?? 'write all of them with --report FILE'}`)
if (dryRun) print('Nothing was written: it was a dry run.')
if (failedCsv !== undefined) {
  writeFileSync(`${path}.failed.csv`, failedCsv)
  print(`The rows that failed: ${path}.failed.csv`)
}
if (status === 'FAILED') print(`The import failed: ${printable(reason ?? 'it was cancelled')}`)
process.exitCode = status === 'FAILED' || counts.failed > 0 ? 1 : 0
