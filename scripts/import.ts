// `npm run import`: sends a file of another service to a running service, and reports the result of each row.
import { openAsBlob, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { fail, readService, SERVICE_OPTIONS, SERVICE_USAGE } from './transfer/arguments.ts'
import { importFile } from './transfer/import-file.ts'

const USAGE = `Usage: npm run import -- FILE [OPTION …]
${SERVICE_USAGE}
  --dry-run      reports what the import would do
  --merge        overwrite: replaces what the library has (default fill: fills what is empty)
  --format       such as goodreads (default: detected from the content)
  --encoding     such as euc-kr (default: detected from the content)
  --map          what a shelf means, such as 'on hold=PAUSED': YET, ING, DONE, STOPPED, PAUSED or TAG; may be repeated
  --column       the column of a field, such as 'title=책 이름'; may be repeated
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
  } as const
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options })
    const [path, ...others] = positionals
    if (!path || others.length > 0) throw new Error('Name one file.')
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

const { path, 'dry-run': dryRun, url, token, ...flags } = readArguments()
const service = readService({ url, token })
checkFile(path)
const { ended, problems, failedCsv } = await importFile({
  ...service,
  fetch,
  file: await openAsBlob(path),
  name: basename(path),
  flags: { ...flags, dryRun },
  report: (line) => console.error(line),
}).catch((error: Error) => fail(error.message))

const { status, reason, counts } = ended
console.log(
  Object.entries(counts)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(', '),
)
for (const problem of problems) console.log(problem)
if (failedCsv !== undefined) {
  writeFileSync(`${path}.failed.csv`, failedCsv)
  console.log(`The rows that failed: ${path}.failed.csv`)
}
if (status === 'FAILED') console.log(`The import failed: ${reason ?? 'it was cancelled'}`)
process.exitCode = status === 'FAILED' || counts.failed > 0 ? 1 : 0
