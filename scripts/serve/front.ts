// The server that clients reach. It passes requests to workerd, which knows no addresses of clients, and takes headers for
// facts that only Cloudflare's servers or Miniflare set.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { toErrorBody } from '../../src/errors.ts'

/** Set here, or by Cloudflare's servers and Miniflare: `MF-CF-Blob`, for example, replaces what is known of a connection. */
const NOT_FROM_CLIENTS = /^(?:cf|mf|x-forwarded)-|^(?:forwarded|x-real-ip|true-client-ip)$/
/** They concern one connection (RFC 9110, section 7.6.1). Node answers `Expect` itself. */
const OF_CONNECTION = new Set(
  'connection expect keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer upgrade'.split(' '),
)

/** An IPv4 address that is mapped to IPv6, as such; others unchanged. */
const unmapped = (address: string) => address.replace(/^::ffff:(?=[\d.]+$)/i, '')

/**
 * Finds the address of a client: that of the connection, unless it is the proxy's. Then it is the last in
 * `X-Forwarded-For`, which the proxy has added: those before it, and all other headers, may be the client's.
 */
const createAddressOf = (trustedProxy: string | undefined) => {
  const trusted = new BlockList()
  if (trustedProxy) trusted.addAddress(trustedProxy, isIP(trustedProxy) === 6 ? 'ipv6' : 'ipv4')
  return ({ socket, headers }: IncomingMessage) => {
    const peer = unmapped(socket.remoteAddress ?? '')
    if (!trusted.check(peer, isIP(peer) === 6 ? 'ipv6' : 'ipv4')) return peer
    const last = String(headers['x-forwarded-for']).split(',').at(-1)?.trim() ?? ''
    return isIP(last) ? unmapped(last) : peer
  }
}

const withoutHeaders = (headers: IncomingMessage['headers'], isDropped: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.has(name) && !isDropped(name)))

const answerUnavailable = (response: ServerResponse) => {
  const body = toErrorBody('UNAVAILABLE')
  const headers = { 'Content-Type': 'application/json', 'Retry-After': '5', 'X-Error-Code': 'UNAVAILABLE' }
  response.writeHead(body.status, headers).end(JSON.stringify(body))
}

type Options = {
  /** The socket of the service. */
  target: () => { hostname: string; port: string }
  /** The address of a proxy whose `X-Forwarded-For` is believed. */
  trustedProxy?: string | undefined
}

export const createFront = ({ target, trustedProxy }: Options) => {
  const addressOf = createAddressOf(trustedProxy)

  const open = (incoming: IncomingMessage) => {
    const { method, url: path = '', headers } = incoming
    // Also a whole URL is valid in HTTP, but the service would read it as a path.
    if (!path.startsWith('/')) throw new Error('not a path')
    const kept = withoutHeaders(headers, (name) => NOT_FROM_CLIENTS.test(name))
    // No agent, which would keep connections: workerd closes idle ones, now and then as a request begins.
    const { hostname, port } = target()
    const options = { hostname, port, method, path, agent: false }
    return request({ ...options, headers: { ...kept, 'CF-Connecting-IP': addressOf(incoming) } })
  }

  return createServer((incoming, response) => {
    let outgoing: ReturnType<typeof request>
    try {
      outgoing = open(incoming)
    } catch {
      // As Node answers what its parser refuses.
      response.writeHead(400, { Connection: 'close' }).end()
      return
    }
    outgoing.on('response', (answer) => {
      const headers = withoutHeaders(answer.headers, (name) => name === 'transfer-encoding')
      response.writeHead(answer.statusCode ?? 502, headers)
      answer.on('error', () => response.destroy()).pipe(response)
    })
    // Once it has answered, the service may close the connection before it has read the whole body.
    outgoing.on('error', () => response.headersSent || answerUnavailable(response))
    response.on('close', () => {
      outgoing.destroy()
      incoming.resume()
    })
    const hasBody = 'content-length' in incoming.headers || 'transfer-encoding' in incoming.headers
    if (hasBody) incoming.pipe(outgoing)
    else outgoing.end()
  })
}
