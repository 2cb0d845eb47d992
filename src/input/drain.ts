import type { MiddlewareHandler } from 'hono'
import type { App } from '../env'
import { DEADLINES } from '../runtime/deadlines'
import { createLimiter } from '../runtime/limiter'
import { declaredLength, SMALL_BYTES } from './body'
import { waitForClient } from './client-wait'

// The runtime resets the connection when a response is sent long before the body ends, and the client may not see it.

const MAX_BYTES = 40 * 1024 * 1024
/** An unread body takes no more of the isolate's memory. */
const BUFFER_BYTES = 65_536
/** The most bodies discarded at a time. A request whose client disconnects stops without returning its lease. */
const MAX_BODIES = 200
const bodies = createLimiter({ capacity: MAX_BODIES, leaseMs: DEADLINES.unreadBody })

const drain = async (stream: ReadableStream<Uint8Array>) => {
  const reader = stream.getReader({ mode: 'byob' })
  const timer = setTimeout(() => reader.cancel(), DEADLINES.unreadBody)
  let buffer = new Uint8Array(BUFFER_BYTES)
  try {
    for (let drained = 0; drained < MAX_BYTES; ) {
      const { done, value } = await reader.read(buffer)
      if (done) break
      drained += value.byteLength
      buffer = new Uint8Array(value.buffer)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Discards the unread rest of a body, within limits, before the response is sent. */
export const drained: MiddlewareHandler<App> = async (c, next) => {
  await next()
  const { body } = c.req.raw
  const length = declaredLength(c)
  const isSmall = length !== undefined && length <= SMALL_BYTES
  if (!body || isSmall || body.locked || (length ?? 0) > MAX_BYTES) return
  const lease = bodies.tryAcquire()
  if (!lease) return
  // It fails if the body ends early.
  await waitForClient(c, () => drain(body)).catch(() => {})
  lease.release()
}
