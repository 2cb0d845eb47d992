// Requests over real sockets that are kept alive, from a new network now and then, so that no flood guard is in the way.
import type { Socket } from 'node:net'
import { type Answer, type Ask, encode, exchange, open } from '../bench/load'

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

/** Connects to a service; whoever asks gets a socket that is free, or a new one. */
export const connect = (url: URL) => {
  const free: Socket[] = []
  const answers = { all: 0, unprotected: [] as string[], foreign: 0 }

  const release = (socket: Socket, { head }: Answer) => {
    if (/\r\nconnection: *close/i.test(head) || socket.destroyed) return socket.destroy()
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

  const ask = async ({ network, ...request }: Asked) => {
    const socket = free.pop() ?? (await open(url))
    const address = network ?? `10.${(answers.all >> 16) & 255}.${(answers.all >> 8) & 255}.1`
    const timer = setTimeout(() => socket.destroy(), PATIENCE_MS)
    try {
      const headers = `CF-Connecting-IP: ${address}\r\n${request.headers ?? ''}`
      const answer = await exchange(socket, encode({ ...request, headers }))
      release(socket, answer)
      const reply = toReply(answer)
      look(request, reply)
      return reply
    } catch (error) {
      socket.destroy()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    ask,
    answers,
    close: () => {
      for (const socket of free) socket.destroy()
    },
  }
}
