// Requests over many connections, without pause.
import type { Socket } from 'node:net'
import { encode, exchange, openSocket } from '../../support/service/http-client'
import type { Service } from './service'

/** Opens connections, with a response on each: the Worker cannot shed those that workerd has not accepted. */
export const openConnections = async ({ url }: Service, count: number) => {
  const sockets = await Array.fromAsync({ length: count }, () => openSocket(url))
  for (const socket of sockets) await exchange(socket, encode({ method: 'GET', path: '/nothing' }))
  return sockets
}

/**
 * Sends requests over connections for a time, each as soon as the last was answered. Closes the connections.
 * @param toRequest the request of a connection, and how many it sent before
 */
export const generateLoad = async (
  sockets: Socket[],
  toRequest: (connection: number, sent: number) => Buffer,
  ms: number,
) => {
  const load = { served: 0, shed: 0, errors: [] as string[], latencies: [] as number[] }
  const until = performance.now() + ms
  const work = async (socket: Socket, n: number) => {
    try {
      for (let sent = 0; performance.now() < until; sent++) {
        const start = performance.now()
        const { status, head } = await exchange(socket, toRequest(n, sent))
        if (status === 200 || status === 201) {
          load.served += 1
          load.latencies.push(performance.now() - start)
        } else if ((status === 503 || status === 429) && /\r\nretry-after: *\d+/i.test(head)) {
          load.shed += 1
        } else {
          load.errors.push(`responded ${status}`)
        }
      }
    } catch (error) {
      load.errors.push(String(error))
    } finally {
      socket.destroy()
    }
  }
  await Promise.all(sockets.map(work))
  return load
}
