import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { exchange, openSocket } from '../support/service/http-client.ts'

const COMPLETE = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK'

it.each([
  ['before the response', ''],
  ['within the response', COMPLETE.slice(0, -1)],
])('says that the server closed the connection %s', async (when, text) => {
  const server = createServer((socket) => socket.once('data', () => socket.end(text))).listen(0)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const socket = await openSocket(new URL(`http://localhost:${port}`))
  const response = exchange(socket, Buffer.from('GET / HTTP/1.1\r\n\r\n'))
  await expect(response).rejects.toThrow(`The server closed the connection ${when}`)
})
