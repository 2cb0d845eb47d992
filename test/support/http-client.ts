// The least HTTP client there is: keep-alive sockets, one request at a time on each, answers by Content-Length or in
// chunks. What it costs itself is taken from the server's share of the machine, so it does nothing else.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type Ask = {
  method: string
  path: string
  token?: string
  body?: string | Buffer
  type?: string
  headers?: string
}
export type Answer = { status: number; head: string; body: string }

/** The bytes of a request. */
export const encode = ({ method, path, token, body, type = 'application/json', headers = '' }: Ask) => {
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body)
  const about = body === undefined ? '' : `Content-Type: ${type}\r\nContent-Length: ${content.length}\r\n`
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}${headers}${about}\r\n`),
    content,
  ])
}

const END_OF_CHUNKS = '0\r\n\r\n'

const dechunk = (text: string) => {
  const bytes = Buffer.from(text, 'latin1')
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (size === 0) return Buffer.concat(parts).toString('latin1')
    parts.push(bytes.subarray(end + 2, end + 2 + size))
    at = end + 4 + size
  }
}

/** The answer that the text begins with, or undefined while it is incomplete. */
const parse = (text: string, isHead: boolean): Answer | undefined => {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const status = Number(head.slice(9, 12))
  if (isHead || status === 204 || status === 304) return { status, head, body: '' }
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) {
    return text.length >= end + 4 + Number(length) ? { status, head, body: text.slice(end + 4) } : undefined
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return { status, head, body: '' }
  return text.endsWith(END_OF_CHUNKS) ? { status, head, body: dechunk(text.slice(end + 4)) } : undefined
}

export const open = async (url: URL) => {
  const socket = connect(Number(url.port), url.hostname)
  socket.setNoDelay(true)
  await once(socket, 'connect')
  return socket
}

/** Sends a request, and waits for its answer, whose body is bytes in a latin-1 string. */
export const exchange = (socket: Socket, request: Buffer) =>
  new Promise<Answer>((resolve, reject) => {
    let text = ''
    const isHead = request.toString('latin1', 0, 5) === 'HEAD '
    const settle = (outcome: () => void) => {
      socket.removeAllListeners()
      outcome()
    }
    socket.on('data', (data) => {
      text += data.toString('latin1')
      const answer = parse(text, isHead)
      if (answer) settle(() => resolve(answer))
    })
    socket.on('error', (error) => settle(() => reject(error)))
    socket.on('close', () => settle(() => reject(new Error('The server closed the connection'))))
    socket.write(request)
  })

/** One request on a connection of its own. */
export const ask = async (url: URL, request: Ask) => {
  const socket = await open(url)
  try {
    return await exchange(socket, encode(request))
  } finally {
    socket.destroy()
  }
}

export type Load = { perSecond: number; latencies: number[] }

/**
 * Sends all the requests over so many connections; `check` throws on an answer that is not the expected one.
 * A fast 500 is no result.
 */
export const drive = async (url: URL, requests: Buffer[], connections: number, check: (answer: Answer) => void) => {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(url)))
  const latencies: number[] = []
  let next = 0
  const work = async (socket: Socket) => {
    for (let request = requests[next++]; request; request = requests[next++]) {
      const start = performance.now()
      const answer = await exchange(socket, request)
      latencies.push(performance.now() - start)
      check(answer)
    }
  }
  try {
    const start = performance.now()
    await Promise.all(sockets.map(work))
    return { perSecond: (requests.length * 1000) / (performance.now() - start), latencies } satisfies Load
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

export const median = (numbers: number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
