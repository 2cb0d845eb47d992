import { callReader } from '../../../runtime/call-reader'
import { ImportFileError } from '../../entries/entry'
import {
  createLineReader,
  type ReaderBinding,
  type ReadOptions,
  type ReceivedEntry,
} from '../../entries/reader-protocol'

/** Bytes to wait for in each read of a stream: every read has a fixed cost. */
const READ_BYTES = 256 * 1024

/** The lines of a text stream, one array for each read. A long line may arrive in many pieces. */
async function* toLines(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader({ mode: 'byob' })
  const decoder = new TextDecoder()
  let line = ''
  try {
    for (let isDone = false; !isDone; ) {
      const { done, value } = await reader.readAtLeast(READ_BYTES, new Uint8Array(READ_BYTES))
      const lines = decoder.decode(value, { stream: true }).split('\n')
      lines[0] = line + lines[0]
      line = lines.pop() ?? ''
      yield lines
      isDone = done
    }
  } finally {
    await reader.cancel()
  }
}

const receive = async (answer: Awaited<ReturnType<ReaderBinding['read']>>) => {
  if ('reason' in answer) return answer
  const { protocol: _, entries: lines, count, ...rest } = answer
  const entries: ReceivedEntry[] = []
  const toEntry = createLineReader()
  for await (const read of toLines(lines)) {
    for (const line of read) entries.push(toEntry(line))
  }
  if (entries.length !== count) throw new Error(`${entries.length} of ${count} entries arrived`)
  return { ...rest, entries }
}

/**
 * Reads a file in the second Worker.
 * @throws ImportFileError if the file as a whole cannot be read; UNAVAILABLE if the Worker keeps failing
 */
export const readEntries = async (reader: ReaderBinding, file: Uint8Array, options: ReadOptions) => {
  const read = await callReader(() => reader.read(file, options), receive)
  if ('reason' in read) throw new ImportFileError(read.reason)
  return read
}
