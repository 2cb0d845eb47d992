// A device of a member of an attacked service.
import { createHash } from 'node:crypto'
import { exchange, type HttpResponse, openSocket } from '../../support/service/http-client'
import { jsonRequest, type Member } from '../harness/members'
import type { Service } from '../harness/service'

export type Device = { tokenId: string; token: string; md5: string; basic: string; username: string }

const md5Of = (text: string) => createHash('md5').update(text).digest('hex')

/** Creates the token of a device. Neither it nor what the device sends of it may be logged. */
export const addDevice = async (service: Service, { token }: Member, more: object = {}): Promise<Device> => {
  const body = { name: 'Kobo', scopes: ['intake:read', 'intake:write'], ...more }
  const created = await service.request(jsonRequest('POST', '/tokens', body, { token }))
  const { addresses, ...device } = created.body as {
    tokenId: string
    token: string
    addresses: { username: string }
  }
  const { username } = addresses
  const [md5, basic] = [md5Of(device.token), Buffer.from(`${username}:${device.token}`).toString('base64')]
  for (const secret of [device.token, md5, basic]) service.secrets.add(secret)
  return { ...device, username, md5, basic }
}

/** A device whose token no member has. */
export const strangeDevice = ({ username, token }: Device): Device => {
  const other = token.replace(/.(?=.{6}$)/, (letter) => (letter === 'a' ? 'b' : 'a'))
  const basic = Buffer.from(`${username}:${other}`).toString('base64')
  return { username, token: other, tokenId: '', md5: md5Of(other), basic }
}

export type Recorded = {
  client: string
  method: string
  url: string
  headers: [name: string, value: string][]
  body: string | { base64: string }
  acceptedAnswer: { status: number; type: string; body: string }
}

const fill = (text: string, { username, token, md5, basic }: Device) =>
  text
    .replace('base64(USER:TOKEN)', basic)
    .replace(/md5hex\((?:TOKEN|typed)\)/, md5)
    .replace('TOKEN', token)
    .replace('USER', username)

const bytesOf = (body: Recorded['body'], device: Device) =>
  typeof body === 'string' ? Buffer.from(fill(body, device)) : Buffer.from(body.base64, 'base64')

/** A recorded request as it was sent: with the names of its headers as they were spelled, and in their order. */
export const toBytes = (request: Omit<Recorded, 'acceptedAnswer' | 'client'>, device: Device, network: string) => {
  const body = bytesOf(request.body, device)
  const lines = request.headers.map(([name, value]) => `${name}: ${fill(value, device)}\r\n`).join('')
  const length = body.length > 0 || request.method === 'PUT' ? `Content-Length: ${body.length}\r\n` : ''
  const head = `${request.method} ${request.url} HTTP/1.1\r\nHost: localhost\r\nCF-Connecting-IP: ${network}\r\n${lines}${length}\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

/** Sends requests one after the other on one connection, or on a new one if the server has closed it. */
export const openConnection = (url: URL) => {
  let socket: Awaited<ReturnType<typeof openSocket>> | undefined
  return {
    send: async (bytes: Buffer): Promise<HttpResponse> => {
      socket ??= await openSocket(url)
      const response = await exchange(socket, bytes)
      if (/\r\nconnection: *close/i.test(response.head)) {
        socket.destroy()
        socket = undefined
      }
      return response
    },
    close: () => socket?.destroy(),
  }
}
