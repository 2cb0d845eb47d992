// An HTTP client on keep-alive sockets. It changes its client address now and then to stay below the network limit.
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { encode, exchange, type HttpRequest, type HttpResponse, openSocket } from '../../support/service/http-client'

/** Header lines as `HttpRequest` takes them. */
export const toLines = (headers: [name: string, value: string][]) =>
  headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')

/** `network`: the client address, where it matters. */
export type Request = HttpRequest & { network?: string }
/** `body`: parsed JSON, else text, or null without content. */
export type Response = { status: number; headers: Headers; bytes: Buffer; body: unknown }

const SECURITY_HEADERS = `cache-control content-security-policy cross-origin-resource-policy referrer-policy
  strict-transport-security x-content-type-options`.split(/\s+/)
const TIMEOUT_MS = 120_000

const toResponse = ({ status, head, body }: HttpResponse): Response => {
  const lines = head.matchAll(/^(.+?):(.*)$/gm)
  const headers = new Headers([...lines].map(([, name = '', value = '']): [string, string] => [name, value]))
  const bytes = Buffer.from(body, 'latin1')
  const isJson = headers.get('Content-Type')?.startsWith('application/json')
  const text = bytes.toString()
  return { status, headers, bytes, body: bytes.length === 0 ? null : isJson ? JSON.parse(text) : text }
}

/** workerd keeps a connection open after an unread body of up to this length. */
const REUSABLE_BYTES = 4_096
/** workerd closes a connection that has been idle for 15 seconds. */
const MAX_IDLE_MS = 3_000
/** A longer body may be refused by its length, and the connection closed while it is being sent. */
const LARGE_BYTES = 65_536
const EARLY_RESPONSE_MS = 250
const RETRY_EARLY_RESPONSE_MS = 5_000

/** Sends the body only if the head alone gets no response, like a client that waits for `100 Continue`. */
const exchangeLarge = async (socket: Socket, request: Buffer, waitMs: number) => {
  const bodyStart = request.indexOf('\r\n\r\n') + 4
  const response = exchange(socket, request.subarray(0, bodyStart))
  const isEarly = await Promise.race([response.then(() => true), setTimeout(waitMs, false)])
  if (!isEarly) socket.write(request.subarray(bodyStart))
  return response
}

export const createClient = (url: URL) => {
  const idle: Socket[] = []
  const responses = { total: 0, unprotected: [] as string[], notFromWorker: 0 }

  const releasedAt = new WeakMap<Socket, number>()
  /** The connection that was released last, unless that is too long ago. */
  const takeIdle = () => {
    const socket = idle.pop()
    if (!socket || performance.now() < (releasedAt.get(socket) ?? 0) + MAX_IDLE_MS) return socket
    for (const each of [socket, ...idle.splice(0)]) each.destroy()
    return undefined
  }

  const release = (socket: Socket, { head }: HttpResponse, sentBytes: number) => {
    if (sentBytes > REUSABLE_BYTES || /\r\nconnection: *close/i.test(head) || socket.destroyed) return socket.destroy()
    socket.once('close', () => idle.splice(idle.indexOf(socket) >>> 0, 1))
    socket.once('error', () => socket.destroy())
    releasedAt.set(socket, performance.now())
    return idle.push(socket)
  }

  const checkHeaders = ({ method, path }: Request, { headers }: Response) => {
    responses.total += 1
    // workerd's own responses, sent before the Worker runs, have no request id.
    if (!headers.has('X-Request-Id')) responses.notFromWorker += 1
    else if (!SECURITY_HEADERS.every((name) => headers.has(name))) responses.unprotected.push(`${method} ${path}`)
  }

  const attempt = async (bytes: Buffer, waitMs = EARLY_RESPONSE_MS) => {
    const socket = takeIdle() ?? (await openSocket(url))
    const isReused = socket.bytesWritten > 0
    const timedOut = new Error(`Timed out after ${TIMEOUT_MS / 1000} s`)
    const timer = globalThis.setTimeout(() => socket.destroy(timedOut), TIMEOUT_MS)
    try {
      const isLarge = bytes.length > LARGE_BYTES
      const response = await (isLarge ? exchangeLarge(socket, bytes, waitMs) : exchange(socket, bytes))
      release(socket, response, bytes.length)
      return response
    } catch (error) {
      socket.destroy()
      const requestLine = bytes.toString('latin1', 0, bytes.indexOf(' HTTP/'))
      const connection = isReused ? 'a used connection' : 'a new connection'
      throw new Error(`${requestLine}, on ${connection}: ${(error as Error).message}`)
    } finally {
      clearTimeout(timer)
    }
  }

  const request = async ({ network, ...rest }: Request) => {
    const { total } = responses
    const address = network ?? `10.${(total >> 17) & 255}.${(total >> 9) & 255}.1`
    const bytes = encode({ ...rest, headers: `CF-Connecting-IP: ${address}\r\n${rest.headers ?? ''}` })
    const received = await attempt(bytes).catch((error: Error) => {
      // On a slow machine the early response may get lost with the closed connection. The body was never read.
      if (bytes.length > LARGE_BYTES && /EPIPE|ECONNRESET/.test(error.message)) {
        return attempt(bytes, RETRY_EARLY_RESPONSE_MS)
      }
      throw error
    })
    const response = toResponse(received)
    checkHeaders(rest, response)
    return response
  }

  return {
    request,
    responses,
    close: () => {
      for (const socket of idle) socket.destroy()
    },
  }
}
