import { unavailable } from '../errors'
import { ImportFileError } from '../reader/file-error'
import type Reader from '../reader/index'
import type { ReadOptions, ReadResult } from '../reader/read-file'
import { withRetries } from '../retry'
import type { Entry } from './entry'

/** The binding of the Worker that reads files. */
export type ReaderBinding = Service<typeof Reader>

/** Timeout for reading a file, retries included. The largest files take up to two seconds. */
const READER_TIMEOUT_MS = 10_000

/** The lines of a stream of text. A long line may arrive in many pieces. */
async function* toLines(stream: ReadableStream<Uint8Array>) {
  let pieces: string[] = []
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const [first = '', ...others] = text.split('\n')
    pieces.push(first)
    for (const next of others) {
      yield pieces.join('')
      pieces = [next]
    }
  }
}

const receive = async (reader: ReaderBinding, file: Uint8Array, options: ReadOptions) => {
  const answer = await reader.read(file, options)
  if ('reason' in answer) return answer
  const { entries: lines, ...rest } = answer
  const entries: Entry[] = []
  for await (const line of toLines(lines)) entries.push(JSON.parse(line))
  return { ...rest, entries }
}

/**
 * Calls the Worker that reads files, and retries if it fails.
 * @throws ImportFileError if the file as a whole cannot be read
 * @throws UNAVAILABLE if the Worker keeps failing
 */
export const readEntries = async (...values: Parameters<typeof receive>): Promise<ReadResult> => {
  const read = await withRetries(
    READER_TIMEOUT_MS,
    () => receive(...values),
    () => true,
  ).catch((error): never => {
    throw unavailable(`file reader: ${error}`)
  })
  if ('reason' in read) throw new ImportFileError(read.reason)
  return read
}
