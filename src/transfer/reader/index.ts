import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Entry } from '../entry'
import { createLineWriter, READER_PROTOCOL } from '../entry-lines'
import { ImportFileError } from './limits'
import { type ReadOptions, type ReadResult, readFile } from './read-file'

/**
 * Why a file cannot be read, or its contents. Entries are lines of JSON, because an RPC value may have at most 32 MiB.
 * `count`: how many they are.
 */
type ReadAnswer = { protocol: number } & (
  | { reason: string }
  | (Omit<ReadResult, 'entries'> & { count: number; entries: ReadableStream<Uint8Array> })
)

const CHUNK_CHARACTERS = 64 * 1024
const encoder = new TextEncoder()

const toStream = (entries: Entry[]) => {
  const lines = entries.values().map(createLineWriter())
  return new ReadableStream({
    type: 'bytes',
    pull: (controller) => {
      let chunk = ''
      while (chunk.length < CHUNK_CHARACTERS) {
        const { done, value } = lines.next()
        if (done) break
        chunk += `${value}\n`
      }
      if (chunk === '') controller.close()
      else controller.enqueue(encoder.encode(chunk))
    },
  })
}

/** The Worker that reads files to import. It has no bindings, so that a hostile file reaches no data. */
export default class Reader extends WorkerEntrypoint {
  /** Nobody sends it requests: it has no address. Uploads of Workers without a handler of events can be refused. */
  override fetch() {
    return new Response(null, { status: 404 })
  }

  read(file: Uint8Array, options: ReadOptions): ReadAnswer {
    const protocol = READER_PROTOCOL
    try {
      const { entries, ...rest } = readFile(file, options)
      return { protocol, ...rest, count: entries.length, entries: toStream(entries) }
    } catch (error) {
      if (!(error instanceof ImportFileError)) throw error
      return { protocol, reason: error.message }
    }
  }
}
