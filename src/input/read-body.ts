import { ApiError, type ErrorCode } from '../errors'
import { DEADLINES } from '../runtime/deadlines'
import { withTimeout } from '../runtime/retry'

// Any error of a read means that the client disconnected, sent less than declared, or was too slow.
const within = <T>(ms: number, read: () => Promise<T>) =>
  withTimeout(ms, read).catch(() => {
    throw new ApiError('BODY_INCOMPLETE')
  })

/**
 * Reads a small body of declared length, which the runtime reads fastest in one piece.
 * @throws BODY_INCOMPLETE when it is cut off or slow
 */
export const readWhole = async (request: Request) =>
  new Uint8Array(await within(DEADLINES.bodyStall, () => request.arrayBuffer()))

/**
 * Opens a stream. `read` reads the next bytes into a view; at the end, the result is empty. It detaches the view's
 * buffer: use the result's. The sender must keep up `minRate` bytes per millisecond while it is waited for.
 */
const openPaced = (stream: ReadableStream<Uint8Array>, { wait, minRate }: Pick<Options, 'wait' | 'minRate'>) => {
  const reader = stream.getReader({ mode: 'byob' })
  const deadline = Date.now() + DEADLINES.body
  /** How far the sender may still fall behind, for example while it pauses. */
  let patienceMs: number = DEADLINES.bodyStall
  const read = async (view: Uint8Array<ArrayBuffer>) => {
    const start = Date.now()
    const { value } = await wait(() => within(Math.min(patienceMs, deadline - start), () => reader.read(view)))
    if (!value) throw new ApiError('BODY_INCOMPLETE')
    const earned = value.byteLength / minRate()
    patienceMs = Math.min(DEADLINES.bodyStall, patienceMs - (Date.now() - start) + earned)
    return value
  }
  return { read, close: () => reader.releaseLock() }
}

type Options = {
  /** The length of the body if it is declared. */
  length: number | undefined
  maxBytes: number
  tooLarge: ErrorCode
  /** Up to this size, no memory is reserved. */
  freeBytes: number
  /** Runs each read. */
  wait: <T>(read: () => Promise<T>) => Promise<T>
  /** Reserves memory for a buffer of this size. */
  reserve: (size: number) => Promise<void>
  /** Frees the memory. */
  release: () => void
  minRate: () => number
}

/**
 * Reads a body into a buffer that doubles when it is full, so that it takes less than twice what has arrived.
 * @throws `tooLarge`; BODY_INCOMPLETE when it is cut off or slow
 */
export const readGrowing = async (stream: ReadableStream<Uint8Array>, options: Options) => {
  const { length, maxBytes, tooLarge, freeBytes, reserve, release } = options
  if (length !== undefined && length > maxBytes) throw new ApiError(tooLarge)
  const { read, close } = openPaced(stream, options)
  // One extra byte shows whether a body of unknown length is too large, and whether a small one has ended.
  const most = length ?? maxBytes + 1
  let buffer = new Uint8Array(Math.min(most, freeBytes + 1))
  let size = 0
  while (size < most) {
    if (size === buffer.length) {
      const larger = Math.min(most, size * 2)
      await reserve(larger).catch((error) => {
        close()
        throw error
      })
      buffer = new Uint8Array(buffer.buffer.transfer(larger))
    }
    const chunk = await read(buffer.subarray(size))
    buffer = new Uint8Array(chunk.buffer)
    size += chunk.byteLength
    if (chunk.byteLength === 0) break
  }
  if (size <= maxBytes) return buffer.subarray(0, size)
  buffer.buffer.transfer(0)
  release()
  close()
  throw new ApiError(tooLarge)
}
