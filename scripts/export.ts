// `npm run export`: downloads the library of a member from a running service.
import { parseArgs } from 'node:util'
import { exitOnHelp } from './options.ts'
import { describeError } from './paths.ts'
import { print, printError } from './print.ts'
import { fail, readService, SERVICE_OPTIONS, SERVICE_USAGE } from './transfer/arguments.ts'
import { exportLibrary, KINDS } from './transfer/export-library.ts'
import { createPartFiles } from './transfer/part-files.ts'

const USAGE = `npm run export -- [OPTION …]
${SERVICE_USAGE}
  --csv          the books, in the columns of Goodreads
  --spreadsheet  the same, safe to open in a spreadsheet; do not import it
  --markdown     the memos (default: everything, as JSON)
  --out          the file (default ${KINDS.json.file}, ${KINDS.csv.file}, … in this directory)
  --force        replaces an earlier export of that name, with all its parts
A large library is exported in several files: ${KINDS.json.file.replace('.', '-part-1.')} and so on.`

const REPORT_MS = 1000

const flag = { type: 'boolean', default: false } as const
const readArguments = () => {
  const options = {
    ...SERVICE_OPTIONS,
    csv: flag,
    spreadsheet: flag,
    markdown: flag,
    out: { type: 'string' },
    force: flag,
  } as const
  try {
    const { values } = parseArgs({ options })
    const [kind = 'json', ...others] = (['csv', 'spreadsheet', 'markdown'] as const).filter((name) => values[name])
    if (others.length > 0) throw new Error('Choose one of --csv, --spreadsheet and --markdown.')
    return { ...values, ...KINDS[kind] }
  } catch (error) {
    return fail(`${(error as Error).message}\nUsage: ${USAGE}`)
  }
}

exitOnHelp(USAGE)
const { path, file, out = file, force, url, token } = readArguments()
const service = readService({ url, token })
const files = createPartFiles(out, force)
process.once('SIGINT', () => {
  files.discard()
  process.exit(130)
})

let reportedAt = Date.now()
const reportBytes = (part: number, bytes: number) => {
  if (Date.now() - reportedAt < REPORT_MS) return
  reportedAt = Date.now()
  printError(`Part ${part}: ${bytes.toLocaleString('en')} bytes`)
}
const report = (line: string) => printError(line)

try {
  files.findEarlier()
  await exportLibrary({ ...service, fetch, path, write: files.write, reportBytes, report })
  for (const each of files.publish()) print(each)
} catch (error) {
  files.discard()
  fail(`Nothing was exported: ${describeError(error)}`, 1)
}
