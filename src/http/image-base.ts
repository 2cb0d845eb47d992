import type { Context } from 'hono'
import type { App } from '../env'
import { ApiError } from '../errors'
import { log } from '../runtime/log'

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/**
 * The base URL of images, from the configuration; only on localhost does it default to the origin of the request.
 * @throws INTERNAL if it is not configured
 */
export const imageBase = (c: Context<App>) => {
  const { IMAGE_BASE_URL, PUBLIC_URL } = c.var.config
  const { hostname, origin } = new URL(c.req.url)
  const base = IMAGE_BASE_URL ?? PUBLIC_URL ?? (LOCAL_HOST.test(hostname) ? origin : undefined)
  if (base) return base
  log('error', 'PUBLIC_URL is missing: set it to the address at which clients reach this service')
  throw new ApiError('INTERNAL')
}
