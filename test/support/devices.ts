import { DEVICE_SCOPES } from '../../src/values/contract'
import recorded from '../fixtures/devices/requests.jsonl?raw'
import { BASE, handle, type Reader } from './api'

type Sent = { method: string; url: string; headers: [name: string, value: string][]; body: string | { base64: string } }
export type Recorded = Sent & { client: string; acceptedAnswer: { status: number } }

/** Requests that apps of devices sent. */
export const RECORDED: Recorded[] = recorded
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

const toBytes = (body: Sent['body']) =>
  typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.fromBase64(body.base64)

/** A device of a member, with a token of its own. */
export const createDevice = async (reader: Reader, scopes = Object.keys(DEVICE_SCOPES)) => {
  const { body } = await reader.post('/tokens', { name: 'Kobo', scopes })
  const { token, tokenId } = body
  const { username } = body.addresses
  const basic = `Basic ${new TextEncoder().encode(`${username}:${token}`).toBase64()}`
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
  const repeat = ({ method, url, headers, body }: Sent) => {
    const filled = headers.map(([name, value]) => [name, value.replace('Basic base64(USER:TOKEN)', basic)])
    return send(method, url, { headers: Object.fromEntries(filled), ...(body !== '' && { body: toBytes(body) }) })
  }
  return { token, tokenId, basic, send, repeat }
}
