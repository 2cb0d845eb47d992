// `npm run export`: downloads the library of a member from a running service.
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { fail, readService, SERVICE_OPTIONS, SERVICE_USAGE } from './transfer/arguments.ts'
import { EXPORTS, exportLibrary, isExportFormat, partName } from './transfer/export-library.ts'

const USAGE = `Usage: npm run export -- [OPTION …]
${SERVICE_USAGE}
  --format    ${Object.keys(EXPORTS).join(', ')} (default json); md has the memos only
  --out       the file (default library.json, library.csv or library.md)
A large library comes in parts: library.json, library.2.json and so on.`

const REPORT_MS = 1000

const readArguments = () => {
  const options = { ...SERVICE_OPTIONS, format: { type: 'string', default: 'json' }, out: { type: 'string' } } as const
  try {
    const { format, ...values } = parseArgs({ options }).values
    if (!isExportFormat(format)) throw new Error(`${format} is not a format.`)
    return { format, ...values }
  } catch (error) {
    return fail(`${(error as Error).message}\n${USAGE}`)
  }
}

const { format, out = `library.${format}`, url, token } = readArguments()

/** A file appears under its name when it is complete. */
const write = async (part: number, content: AsyncIterable<Uint8Array>) => {
  const file = partName(out, part)
  await pipeline(content, createWriteStream(`${file}.part`)).catch((error) => {
    rmSync(`${file}.part`, { force: true })
    throw error
  })
  renameSync(`${file}.part`, file)
  console.log(file)
}

let reportedAt = Date.now()
const report = (part: number, bytes: number) => {
  if (Date.now() - reportedAt < REPORT_MS) return
  reportedAt = Date.now()
  console.error(`${partName(out, part)}: ${bytes.toLocaleString('en')} bytes`)
}

const parts = await exportLibrary({ ...readService({ url, token }), fetch, format, write, report }).catch(
  (error: Error) => fail(`The export failed: ${error.message}`),
)
console.log(`${parts} ${parts === 1 ? 'file' : 'files'}`)
