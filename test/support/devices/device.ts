import { type Reader, send } from '../api'

type Options = Parameters<typeof send>[2]
type Position = { document?: string; percentage: number; progress?: string; metadata?: object }

export const DOCUMENT = 'd047e584e20000000000000000000000'

/** A device of a member, with a token of its own. */
export const addDevice = async (reader: Reader, token: object = {}) => {
  const created = await reader.post('/tokens', { name: 'Kobo', scopes: ['intake:read', 'intake:write'], ...token })
  const headers = { Authorization: `Bearer ${created.body.token}` }
  const request = (method: string, path: string, options: Options = {}) =>
    send(method, path, { ...options, headers: { ...headers, ...options.headers } })
  return {
    ...(created.body as { tokenId: string; token: string; addresses: { username: string } }),
    request,
    push: (position: Position, options: Options = {}) =>
      request('PUT', '/koreader/syncs/progress', {
        body: { document: DOCUMENT, progress: 'p', device: 'Kobo', device_id: 'K1', ...position },
        ...options,
      }),
    pull: async (document = DOCUMENT) => (await request('GET', `/koreader/syncs/progress/${document}`)).body,
  }
}
