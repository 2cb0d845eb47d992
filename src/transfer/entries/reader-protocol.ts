import type { IMAGE_TYPES } from '../../values/contract'
import {
  type Cells,
  type Entry,
  type EntryMember,
  type FormatName,
  type ImportOptions,
  NO_DETAILS,
  type UnreadColumn,
} from './entry'

/**
 * The version of what the service and the reader send each other, but for the details of a book. If it changes, so does the name of the reader in both
 * wrangler files: versions of the service that run at the same time, or after a rollback, then each have their reader.
 */
export const READER_PROTOCOL = 3

export type ReadOptions = ImportOptions & { format?: FormatName; encoding?: string }
export type ReadResult = {
  format: FormatName
  encoding: string
  /** The columns of a table that its format does not know. */
  unknownColumns: string[]
  unreadColumns: UnreadColumn[]
  /** Only of an export of this service. */
  member?: EntryMember
  entries: Entry[]
}

/**
 * Why a file cannot be read, or its contents. Entries are lines of JSON, because an RPC value may have at most 32 MiB.
 * `count`: how many they are.
 */
export type ReadAnswer = { protocol: number } & (
  | { reason: string }
  | (Omit<ReadResult, 'entries'> & { count: number; entries: ReadableStream<Uint8Array> })
)

/** The documents that the files of a member have had in all. */
export const MAX_STATISTICS_DOCUMENTS = 2000

/** What was counted of earlier files of reading statistics: the rows of the current file, and those that it lacks. */
export type CountedStatistics = { file: Uint8Array | null; missing: Uint8Array | null }
export type StatisticsOptions = {
  /** That of the member, for the days of the rows that the file adds. */
  timeZone: string
  /** The most of `added` in an answer. At least 1. */
  maxSittings: number
}
export type StatisticsResult = {
  /** The documents that `added` names: the MD5 of the book, in lower case. */
  documents: { document: string; title: string | null; authors: string | null }[]
  /** What the file adds, oldest day first. `document`: an index of `documents`. */
  added: { document: number; day: string; seconds: number }[]
  /** Whether that is all. If not, `missing` belongs to the file before, or to none: call again with it. */
  isComplete: boolean
  /** The counted rows that the file lacks. Null if there are none. */
  missing: Uint8Array | null
}
/** `reason`: why the file cannot be read. */
export type StatisticsAnswer = { protocol: number } & ({ reason: string } | StatisticsResult)

export type ImageType = (typeof IMAGE_TYPES)[number]
/** Why an image is refused. `IMAGE_DAMAGED`: it is corrupt or truncated. */
export type ImageFault = 'UNSUPPORTED_IMAGE' | 'IMAGE_DAMAGED' | 'TOO_MANY_PIXELS' | 'IMAGE_TOO_COMPLEX'
export type ImageAnswer = { protocol: number } & (
  | { fault: ImageFault }
  | { type: ImageType; bytes: Uint8Array<ArrayBuffer> }
)

/** The Worker that reads files, as the service calls it. */
export type FileReader = {
  cleanImage(upload: Uint8Array<ArrayBuffer>): ImageAnswer
  read(file: Uint8Array, options: ReadOptions): ReadAnswer
  readStatistics(file: Uint8Array, counted: CountedStatistics, options: StatisticsOptions): StatisticsAnswer
}
export type ReaderBinding = Service<Rpc.WorkerEntrypointBranded & FileReader>

// The form in which the reader sends entries: lines of JSON. The rows of a table share the names of its columns, so a
// line omits names that are those of the line before.
type SentEntry = Omit<Entry, 'cells'> & { cells: { names?: string[]; values: string[] } }

/** Returns a function that writes entries as lines, without line ends. */
export const createLineWriter = () => {
  let sent: string[] | undefined
  return (entry: Entry) => {
    const { names, values } = entry.cells
    if (names === sent) return JSON.stringify({ ...entry, cells: { values } })
    sent = names
    return JSON.stringify(entry)
  }
}

export type ReceivedEntry = Entry & {
  /** Characters as JSON, column names included. */
  size: number
}

export const createLineReader = () => {
  let names: string[] = []
  let namesSize = 0
  return (line: string): ReceivedEntry => {
    // A reader of another version may not know all details.
    const entry: SentEntry = { ...NO_DETAILS, ...JSON.parse(line) }
    const { names: sent, values } = entry.cells
    if (sent) {
      names = sent
      namesSize = names.reduce((sum, name) => sum + name.length, 0)
    }
    const cells: Cells = { names, values }
    return Object.assign(entry, { cells, size: line.length + (sent ? 0 : namesSize) })
  }
}
