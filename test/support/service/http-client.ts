// A minimal HTTP client on keep-alive sockets, one request at a time on each. It shares the machine with the server
// under test, so it does as little as possible.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type HttpRequest = {
  method: string
  path: string
  token?: string
  body?: string | Uint8Array
  /** Content-Type; JSON by default. */
  type?: string
  /** Further header lines, each ending in CRLF. */
  headers?: string
}
/** `body` holds bytes as a latin-1 string. */
export type HttpResponse = { status: number; head: string; body: string }

export const encode = ({ method, path, token, body, type = 'application/json', headers = '' }: HttpRequest) => {
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body)
  const entity = body === undefined ? '' : `Content-Type: ${type}\r\nContent-Length: ${content.length}\r\n`
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}${headers}${entity}\r\n`),
    content,
  ])
}

const LAST_CHUNK = '0\r\n\r\n'

/** Undefined if the last chunk has not arrived: the content may end like it. */
const dechunk = (text: string) => {
  let content = ''
  for (let at = 0; ; ) {
    const start = text.indexOf('\r\n', at) + 2
    const size = Number.parseInt(text.slice(at, start), 16)
    if (size === 0) return content
    if (!size) return undefined
    content += text.slice(start, start + size)
    at = start + size + 2
  }
}

/** Parses a response, or returns undefined while it is incomplete. */
const parse = (text: string, isHead: boolean): HttpResponse | undefined => {
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
  const body = text.endsWith(LAST_CHUNK) ? dechunk(text.slice(end + 4)) : undefined
  return body === undefined ? undefined : { status, head, body }
}

export const openSocket = async (url: URL) => {
  const socket = connect(Number(url.port), url.hostname)
  socket.setNoDelay(true)
  await once(socket, 'connect')
  return socket
}

/** Sends an encoded request and waits for the response. */
export const exchange = (socket: Socket, request: Buffer) =>
  new Promise<HttpResponse>((resolve, reject) => {
    let text = ''
    const isHead = request.toString('latin1', 0, 5) === 'HEAD '
    const settle = (outcome: () => void) => {
      socket.removeAllListeners()
      outcome()
    }
    socket.on('data', (data) => {
      text += data.toString('latin1')
      const response = parse(text, isHead)
      if (response) settle(() => resolve(response))
    })
    const fail = (reason: string) =>
      settle(() => reject(new Error(`${reason} ${text ? 'within' : 'before'} the response`)))
    socket.on('error', ({ message }) => fail(message))
    socket.on('close', () => fail('The server closed the connection'))
    socket.write(request)
  })

/** Sends one request on a new connection. */
export const sendRequest = async (url: URL, request: HttpRequest) => {
  const socket = await openSocket(url)
  try {
    return await exchange(socket, encode(request))
  } finally {
    socket.destroy()
  }
}

export type Load = { perSecond: number; latencies: number[] }

/** Sends all requests over a number of connections. `check` must throw on an unexpected response: a fast 500 is no result. */
export const sendAll = async (
  url: URL,
  requests: Buffer[],
  connections: number,
  check: (response: HttpResponse) => void,
): Promise<Load> => {
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(url)))
  const latencies: number[] = []
  let next = 0
  const work = async (socket: Socket) => {
    for (let request = requests[next++]; request; request = requests[next++]) {
      const start = performance.now()
      const response = await exchange(socket, request)
      latencies.push(performance.now() - start)
      check(response)
    }
  }
  try {
    const start = performance.now()
    await Promise.all(sockets.map(work))
    return { perSecond: (requests.length * 1000) / (performance.now() - start), latencies }
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

/** The value that a share of the numbers lie below; NaN if there are none. */
export const quantile = (numbers: number[], share: number) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)] ?? Number.NaN
export const median = (numbers: number[]) => quantile(numbers, 0.5)
