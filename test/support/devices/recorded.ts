import recorded from '../../fixtures/devices/requests.jsonl?raw'

export type Recorded = {
  client: string
  method: string
  url: string
  headers: [name: string, value: string][]
  /** Base64 if it is binary. */
  body: string | { base64: string }
  acceptedAnswer: { status: number; type: string; body: string }
}

/** Requests that apps sent. */
export const RECORDED: Recorded[] = recorded
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

/** The body, if it is text. */
export const textOf = ({ body }: Recorded) => (typeof body === 'string' ? body : '')

const md5 = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest('MD5', new TextEncoder().encode(text))).toHex()

/** Fills in the user name and the token of a device. */
export const fillIn = async (text: string, user: string, token: string) =>
  text
    .replace('base64(USER:TOKEN)', btoa(`${user}:${token}`))
    .replace(/md5hex\((?:TOKEN|typed)\)/, await md5(token))
    .replace('USER', user)
    .replace('TOKEN', token)
