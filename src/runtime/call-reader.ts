import { unavailable } from '../errors'
import { READER_PROTOCOL } from '../transfer/entries/reader-protocol'
import { DEADLINES } from './deadlines'
import { withRetries } from './retry'

/**
 * Calls the Worker that reads files, and calls it again if that fails.
 * @param receive reads what the answer streams, as part of the call
 * @throws UNAVAILABLE if it keeps failing
 */
export const callReader = <Answer extends { protocol: number }, Result = Answer>(
  call: () => Promise<Answer>,
  receive: (answer: Answer) => Result | Promise<Result>,
) => {
  const attempt = async () => {
    const answer = await call()
    if (answer.protocol !== READER_PROTOCOL) throw new Error(`protocol ${answer.protocol}, not ${READER_PROTOCOL}`)
    return receive(answer)
  }
  return withRetries(DEADLINES.fileReader, attempt, () => true).catch((error): never => {
    throw unavailable(`file reader: ${error}`)
  })
}
