import { ApiError, unavailable } from '../../errors'
import { DEADLINES } from '../../runtime/deadlines'
import { withRetries } from '../../runtime/retry'
import { READER_PROTOCOL, type ReaderBinding } from '../../transfer/entries/reader-protocol'

/**
 * What a file adds to what was counted, by the Worker that reads files, which is called again if it fails.
 * @throws FILE_NOT_IMPORTABLE; UNAVAILABLE if the Worker keeps failing
 */
export const readStatistics = async (reader: ReaderBinding, ...values: Parameters<ReaderBinding['readStatistics']>) => {
  const ask = async () => {
    const answer = await reader.readStatistics(...values)
    if (answer.protocol !== READER_PROTOCOL) throw new Error(`protocol ${answer.protocol}, not ${READER_PROTOCOL}`)
    return answer
  }
  const answer = await withRetries(DEADLINES.fileReader, ask, () => true).catch((error): never => {
    throw unavailable(`file reader: ${error}`)
  })
  if (!('reason' in answer)) return answer
  throw new ApiError('FILE_NOT_IMPORTABLE', { message: `The reading statistics cannot be read: ${answer.reason}` })
}
