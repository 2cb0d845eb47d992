import { env } from 'cloudflare:workers'
import { type Reader, send, unavailable } from '../api'
import { select } from '../database'

export const memberIdOf = async ({ email }: Reader) =>
  Number((await select('select memberId from members where email = ?', email))[0]?.memberId)

/** The keys of a member's images in the bucket. */
export const listImageKeys = async (memberId: number) => {
  const { objects } = await env.IMAGES.list({ prefix: `images/${memberId}/` })
  return objects.map(({ key }) => key)
}

/** Requests an image by its URL, or by its path. */
export const loadImage = (url: string, headers?: Record<string, string>, method = 'GET') => {
  // Without a member, `npm run smoke -- --public` has uploaded nothing.
  if (typeof url !== 'string') return unavailable()
  return send(method, url.replace(/^https?:\/\/[^/]+/, ''), { headers })
}
