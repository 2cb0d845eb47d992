import { PUSHED, PUSHED_BOOK } from '../../../src/openapi/examples.ts'

type Send = (method: string, path: string, token: string, body: object) => Promise<unknown>

/** Pushes what the examples of documents show, as a device of the member with this token. No operation can. */
export const pushExample = async (send: Send, token: string) => {
  const device = { name: 'My Kobo', scopes: ['intake:read', 'intake:write'] }
  const created = (await send('POST', '/tokens', token, device)) as { token: string }
  for (const position of [PUSHED_BOOK, PUSHED]) await send('PUT', '/koreader/syncs/progress', created.token, position)
}
