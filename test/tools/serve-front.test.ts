import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { createFront } from '../../scripts/serve/front.ts'

const listen = async (server: Server) => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** A front before a service that answers with what it received, or as `answer` does. */
const startFront = async (trustedProxy?: string, answer?: RequestListener | Server) => {
  const received: { url?: string; headers: IncomingMessage['headers']; body: string }[] = []
  const echo: RequestListener = async (incoming, response) => {
    const { url, headers } = incoming
    received.push({ ...(url && { url }), headers, body: await text(incoming) })
    response.setHeader('X-Answered', 'yes').end('{}')
  }
  const service = typeof answer === 'object' ? answer : createServer(answer ?? echo)
  const port = String(await listen(service))
  const front = createFront({ target: () => ({ hostname: '127.0.0.1', port }), trustedProxy })
  const ask = async (headers: Record<string, string | string[]> = {}, { method = 'GET', body = '' } = {}) => {
    const asked = request({ port: frontPort, host: '127.0.0.1', path: '/books?page=1', method, headers, agent: false })
    // After an early answer, the rest of the body cannot be sent.
    asked.on('error', () => {})
    const [response] = (await once(asked.end(body), 'response')) as [IncomingMessage]
    return { status: response.statusCode, headers: response.headers, text: await text(response) }
  }
  const frontPort = await listen(front)
  /** Sends bytes, and returns all that is answered. */
  const send = async (bytes: string) => {
    const socket = connect(frontPort, '127.0.0.1')
    socket.write(bytes)
    return text(socket)
  }
  return { received, ask, send, service }
}
const addressOf = ({ received }: Awaited<ReturnType<typeof startFront>>) => received.at(-1)?.headers['cf-connecting-ip']

const SPOOFED = {
  'CF-Connecting-IP': '198.51.100.1',
  'CF-IPCountry': 'KR',
  Forwarded: 'for=198.51.100.1',
  'MF-CF-Blob': '{"clientIp":"198.51.100.1:1","country":"KR"}',
  'MF-Original-URL': 'http://localhost/',
  'True-Client-IP': '198.51.100.1',
  'X-Forwarded-For': '198.51.100.1',
  'X-Forwarded-Host': 'localhost',
  'X-Forwarded-Proto': 'https',
  'X-Real-IP': '198.51.100.1',
}

it('tells the service the address of the connection, whatever headers a client sends', async () => {
  const front = await startFront()
  await front.ask(SPOOFED)
  expect(addressOf(front)).toBe('127.0.0.1')
  const names = Object.keys(front.received[0]?.headers ?? {})
  expect(names.sort()).toEqual(['cf-connecting-ip', 'connection', 'host'])
})

it.each([
  ['from a client', '192.0.2.1', '198.51.100.1', '127.0.0.1'],
  ['from the proxy', '127.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['from the proxy, after those that the client sent', '127.0.0.1', '10.0.0.1, 203.0.113.9', '203.0.113.9'],
  ['from the proxy, in several lines', '127.0.0.1', ['10.0.0.1', '2001:db8::1'], '2001:db8::1'],
  ['from the proxy, mapped to IPv6', '::ffff:127.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
  ['from the proxy, that is no address', '127.0.0.1', '203.0.113.9, unknown', '127.0.0.1'],
])('reads X-Forwarded-For %s', async (_, trustedProxy, forwarded, expected) => {
  const front = await startFront(trustedProxy)
  await front.ask({ ...SPOOFED, 'X-Forwarded-For': forwarded })
  expect(addressOf(front)).toBe(expected)
})

it('passes requests and answers on unchanged otherwise', async () => {
  const { received, ask } = await startFront()
  const headers = { Host: 'library.home', Authorization: 'Bearer a.b.c', 'Transfer-Encoding': 'chunked' }
  const answer = await ask(headers, { method: 'DELETE', body: '소년이 온다' })
  expect(answer).toMatchObject({ status: 200, headers: { 'x-answered': 'yes' }, text: '{}' })
  expect(received).toMatchObject([
    { url: '/books?page=1', headers: { host: 'library.home', authorization: 'Bearer a.b.c' }, body: '소년이 온다' },
  ])
})

it('passes on an answer that comes before the whole body', async () => {
  // As the service does: it goes on reading.
  const early = createTcpServer((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 413 Large\r\nContent-Length: 9\r\n\r\ntoo large')).resume()
  })
  const { ask } = await startFront(undefined, early)
  const body = 'a'.repeat(2 ** 22)
  expect(await ask({}, { method: 'POST', body })).toMatchObject({ status: 413, text: 'too large' })
})

it('sends no request to the service that hides in the body of another', async () => {
  const { received, send } = await startFront()
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: a\r\nCF-Connecting-IP: 198.51.100.1\r\n\r\n'
  const lines = `DELETE /books/1 HTTP/1.1\r\nHost: a\r\nConnection: close, content-length\r\nContent-Length: ${hidden.length}`
  expect(await send(`${lines}\r\n\r\n${hidden}`)).toMatch(/^HTTP\/1.1 200/)
  expect(received).toMatchObject([{ url: '/books/1', body: hidden }])
  const both = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`
  expect(await send(both)).toMatch(/^HTTP\/1.1 400/)
  expect(await send('GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1.1 400/)
  expect(received).toHaveLength(1)
})

it('answers 503 while the service does not run, and cuts off what it cannot complete', async () => {
  const { ask, service } = await startFront(undefined, (_, response) => {
    response.writeHead(200, { 'Content-Length': '10' }).write('half')
    setImmediate(() => response.destroy())
  })
  await expect(ask()).rejects.toThrow(/aborted/)
  service.close()
  expect(await ask()).toMatchObject({
    status: 503,
    headers: { 'retry-after': '5', 'x-error-code': 'UNAVAILABLE' },
    text: expect.stringContaining('"status":503'),
  })
})
