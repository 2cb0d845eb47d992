import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Entry } from '../imports/entry'
import { createLineWriter } from '../imports/lines'
import { ImportFileError } from './file-error'
import { type ReadOptions, type ReadResult, readFile } from './read-file'

/** Why a file cannot be read, or its contents. Entries are lines of JSON, because an RPC value may have at most 32 MiB. */
export type ReadAnswer = { reason: string } | (Omit<ReadResult, 'entries'> & { entries: ReadableStream<Uint8Array> })

const CHUNK_CHARACTERS = 64 * 1024
const encoder = new TextEncoder()

const toLines = (entries: Entry[]) => {
  let at = 0
  const toLine = createLineWriter()
  return new ReadableStream({
    type: 'bytes',
    pull: (controller) => {
      let lines = ''
      for (const entry of entries.slice(at)) {
        if (lines.length >= CHUNK_CHARACTERS) break
        lines += `${toLine(entry)}\n`
        at += 1
      }
      if (lines === '') controller.close()
      else controller.enqueue(encoder.encode(lines))
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
    try {
      const { entries, ...rest } = readFile(file, options)
      return { ...rest, entries: toLines(entries) }
    } catch (error) {
      if (!(error instanceof ImportFileError)) throw error
      return { reason: error.reason }
    }
  }
}
