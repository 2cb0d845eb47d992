import { WorkerEntrypoint } from 'cloudflare:workers'
import { type Entry, ImportFileError } from '../entries/entry'
import {
  type CountedStatistics,
  createLineWriter,
  type FileReader,
  type ImageAnswer,
  READER_PROTOCOL,
  type ReadAnswer,
  type ReadOptions,
  type StatisticsAnswer,
  type StatisticsOptions,
} from '../entries/reader-protocol'
import { cleanImage } from './images/clean-image'
import { ImageError } from './images/image'
import { readFile } from './read-file'
import { readStatistics } from './statistics/read-statistics'

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

/** The result of `read`, or why the file cannot be read. */
const toAnswer = <Result extends object>(read: () => Result) => {
  try {
    return { protocol: READER_PROTOCOL, ...read() }
  } catch (error) {
    if (!(error instanceof ImportFileError)) throw error
    return { protocol: READER_PROTOCOL, reason: error.message }
  }
}

/** The Worker that reads files of members. It has no bindings, so that a hostile file reaches no data. */
export default class Reader extends WorkerEntrypoint implements FileReader {
  /** Nobody sends it requests: it has no address. Uploads of Workers without a handler of events can be refused. */
  override fetch() {
    return new Response(null, { status: 404 })
  }

  cleanImage(upload: Uint8Array<ArrayBuffer>): ImageAnswer {
    try {
      const { type, bytes } = cleanImage(upload)
      // Garbage collection may come too late. The answer has been serialized by then.
      this.ctx.waitUntil(scheduler.wait(0).then(() => bytes.buffer.transfer(0)))
      return { protocol: READER_PROTOCOL, type, bytes }
    } catch (error) {
      if (!(error instanceof ImageError)) throw error
      return { protocol: READER_PROTOCOL, fault: error.fault }
    } finally {
      upload.buffer.transfer(0)
    }
  }

  read(file: Uint8Array, options: ReadOptions): ReadAnswer {
    return toAnswer(() => {
      const { entries, ...rest } = readFile(file, options)
      return { ...rest, count: entries.length, entries: toStream(entries) }
    })
  }

  readStatistics(file: Uint8Array, counted: CountedStatistics, options: StatisticsOptions): StatisticsAnswer {
    return toAnswer(() => readStatistics(file, counted, options))
  }
}
