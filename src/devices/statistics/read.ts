import { ApiError } from '../../errors'
import { callReader } from '../../runtime/call-reader'
import type { ReaderBinding } from '../../transfer/entries/reader-protocol'

/**
 * What a file adds to what was counted, by the Worker that reads files.
 * @throws FILE_NOT_IMPORTABLE; UNAVAILABLE if the Worker keeps failing
 */
export const readStatistics = async (reader: ReaderBinding, ...values: Parameters<ReaderBinding['readStatistics']>) => {
  const answer = await callReader(
    async () => reader.readStatistics(...values),
    (answer) => answer,
  )
  if (!('reason' in answer)) return answer
  throw new ApiError('FILE_NOT_IMPORTABLE', { message: `The reading statistics cannot be read: ${answer.reason}` })
}
