import { BASE, handle, type Reader } from '../api'
import { addDevice } from './device'
import type { Recorded } from './recorded'

const toBytes = (body: Recorded['body']) =>
  typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.fromBase64(body.base64)

/** A device that sends any method and bytes, with HTTP Basic, and reads the response as text. */
export const addRawDevice = async (reader: Reader, token: object = {}) => {
  const device = await addDevice(reader, token)
  const basic = `Basic ${new TextEncoder().encode(`${device.addresses.username}:${device.token}`).toBase64()}`
  const send = async (
    method: string,
    path: string,
    { headers = {}, ...init }: { headers?: Record<string, string>; body?: BodyInit } = {},
    changed?: Parameters<typeof handle>[1],
  ) => {
    const request = new Request(BASE + path, { method, headers: { Authorization: basic, ...headers }, ...init })
    const response = await handle(request, changed)
    return { status: response.status, headers: response.headers, body: await response.text() }
  }
  /** Sends a recorded request, as this device. */
  const repeat = ({ method, url, headers, body }: Pick<Recorded, 'method' | 'url' | 'headers' | 'body'>) => {
    const filled = headers.map(([name, value]) => [name, value.replace('Basic base64(USER:TOKEN)', basic)])
    return send(method, url, { headers: Object.fromEntries(filled), ...(body !== '' && { body: toBytes(body) }) })
  }
  return { token: device.token, tokenId: device.tokenId, basic, send, repeat }
}
