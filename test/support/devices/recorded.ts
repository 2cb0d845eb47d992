import lines from '../../fixtures/devices/requests.jsonl?raw'

export type Recorded = {
  client: string
  method: string
  url: string
  headers: [name: string, value: string][]
  body: string
  acceptedAnswer: { status: number; type: string; body: string }
}

/** The recorded requests to a protocol. */
export const recordedOf = (prefix: string): Recorded[] =>
  lines
    .trim()
    .split('\n')
    .map((line): Recorded => JSON.parse(line))
    .filter(({ url }) => url.startsWith(prefix))

const md5 = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest('MD5', new TextEncoder().encode(text))).toHex()

/** Fills in the user name and the token of a device. */
export const fillIn = async (text: string, user: string, token: string) =>
  text
    .replace('base64(USER:TOKEN)', btoa(`${user}:${token}`))
    .replace(/md5hex\((?:TOKEN|typed)\)/, await md5(token))
    .replace('USER', user)
    .replace('TOKEN', token)
