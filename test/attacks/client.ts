// Requests over real sockets that are kept alive, from a new network now and then, so that no flood guard is in the way.
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type Answer, type Ask, encode, exchange, open } from '../support/http-client'

/** A request, from a network of its own where that matters. */
export type Asked = Ask & { network?: string }
/** An answer; `body` is what its JSON says, else its text, and null where there is none. */
export type Reply = { status: number; headers: Headers; bytes: Buffer; body: unknown }

const SECURITY = [
  'cache-control',
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
]
const PATIENCE_MS = 60_000

const toHeaders = (head: string) => {
  const headers = new Headers()
  for (const line of head.split('\r\n').slice(1)) {
    const at = line.indexOf(':')
    headers.append(line.slice(0, at), line.slice(at + 1).trim())
  }
  return headers
}

const toReply = ({ status, head, body }: Answer): Reply => {
  const headers = toHeaders(head)
  const bytes = Buffer.from(body, 'latin1')
  const isJson = headers.get('Content-Type')?.startsWith('application/json')
  const text = bytes.toString()
  return { status, headers, bytes, body: bytes.length === 0 ? null : isJson ? JSON.parse(text) : text }
}

/** The longest body after which workerd goes on with a connection, whether the Worker read it or not. */
const SHORT = 4_096
/** A longer one than this may be refused by its length, and the connection closed while it is being sent. */
const LONG = 65_536
const EARLY_MS = 250

/** As `exchange`, but the body is sent only where no answer comes at its head: as a client that waits for `100 Continue`. */
const exchangeLong = async (socket: Socket, request: Buffer) => {
  const begun = request.indexOf('\r\n\r\n') + 4
  const answer = exchange(socket, request.subarray(0, begun))
  const isEarly = await Promise.race([answer.then(() => true), setTimeout(EARLY_MS, false)])
  if (!isEarly) socket.write(request.subarray(begun))
  return answer
}

/** Connects to a service; whoever asks gets a socket that is free, or a new one. */
export const connect = (url: URL) => {
  const free: Socket[] = []
  const answers = { all: 0, unprotected: [] as string[], foreign: 0 }

  const release = (socket: Socket, { head }: Answer, sent: number) => {
    if (sent > SHORT || /\r\nconnection: *close/i.test(head) || socket.destroyed) return socket.destroy()
    socket.once('close', () => free.splice(free.indexOf(socket) >>> 0, 1))
    socket.once('error', () => socket.destroy())
    return free.push(socket)
  }

  const look = ({ method, path }: Ask, { headers }: Reply) => {
    answers.all += 1
    // What workerd itself answers, before the Worker is asked, bears no request id.
    if (!headers.has('X-Request-Id')) answers.foreign += 1
    else if (!SECURITY.every((name) => headers.has(name))) answers.unprotected.push(`${method} ${path}`)
  }

  const attempt = async (bytes: Buffer) => {
    const socket = free.pop() ?? (await open(url))
    const timer = globalThis.setTimeout(() => socket.destroy(), PATIENCE_MS)
    try {
      const answer = await (bytes.length > LONG ? exchangeLong : exchange)(socket, bytes)
      release(socket, answer, bytes.length)
      return answer
    } catch (error) {
      socket.destroy()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  const ask = async ({ network, ...request }: Asked) => {
    const address = network ?? `10.${(answers.all >> 17) & 255}.${(answers.all >> 9) & 255}.1`
    const bytes = encode({ ...request, headers: `CF-Connecting-IP: ${address}\r\n${request.headers ?? ''}` })
    const answer = await attempt(bytes).catch((error: Error) => {
      // The answer came late on a slow machine, and was lost with the connection: the body was never read.
      if (bytes.length > LONG && /EPIPE|ECONNRESET/.test(error.message)) return attempt(bytes)
      throw error
    })
    const reply = toReply(answer)
    look(request, reply)
    return reply
  }

  return {
    ask,
    answers,
    close: () => {
      for (const socket of free) socket.destroy()
    },
  }
}
