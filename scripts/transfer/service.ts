import type { ErrorBody } from '../../src/errors.ts'
import { printable } from '../print.ts'

export type Fetch = (request: Request) => Promise<Response>
/** A running service, and an access token. */
export type Service = { fetch: Fetch; base: string; token: string }

/** Sends a request with the access token. @throws Error if the service cannot be reached */
export type Send = (method: string, path: string, body?: FormData) => Promise<Response>

export const createClient =
  ({ fetch, base, token }: Service): Send =>
  async (method, path, body) => {
    const headers = { Authorization: `Bearer ${token.replace(/^Bearer\s+/i, '')}` }
    return fetch(new Request(base + path, { method, headers, body })).catch((cause) => {
      throw new Error(`No service answers at ${base}. Start it with \`npm run dev\`, or pass --url.`, { cause })
    })
  }

const HINTS: Record<number, string> = {
  401: 'Pass a valid token with --token or in LIBRARY_TOKEN: of a login, or an access token.',
  404: 'Is the URL that of the Reading Library, in a version that has this function?',
  409: 'Wait until it ends (GET /imports lists it), or cancel it with DELETE /imports/ID.',
}

const describeError = async (response: Response) => {
  const body: Partial<ErrorBody> = (await response.json().catch(() => null)) ?? {}
  const { message, fieldErrors, violationErrors } = body
  const fields = [
    ...(fieldErrors ?? []).map(({ field, reason }) => `${field} ${reason}`),
    ...(violationErrors ?? []).map(({ propertyPath, reason }) => `${propertyPath} ${reason}`),
  ].join('; ')
  const retry = response.headers.get('Retry-After')
  const parts = [
    `The service refused (${response.status}): ${fields || message || response.statusText || 'it gave no reason'}.`,
    HINTS[response.status],
    retry && `Try again in ${retry} s.`,
  ]
  return printable(parts.filter(Boolean).join(' ').replaceAll('..', '.'))
}

/** @throws Error that says why the service refused, and what to do */
export const expectOk = async (response: Response) => {
  if (!response.ok) throw new Error(await describeError(response))
  return response
}

/** @throws Error if the response is not JSON, such as the page of another server */
export const readJson = async <T>(response: Response): Promise<T> => {
  const { url } = response
  return (await expectOk(response)).json().catch(() => {
    throw new Error(`${url} did not answer with JSON: it is not the Reading Library.`)
  }) as Promise<T>
}
