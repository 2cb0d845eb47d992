import type { Context } from 'hono'
import type { App } from '../env'
import { ApiError } from '../errors'
import { log } from '../runtime/log'

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/**
 * The base URL of links, from the configuration; only on localhost does it default to the origin of the request.
 * @throws INTERNAL if it is not configured
 */
export const publicBase = (c: Context<App>) => {
  const { hostname, origin } = new URL(c.req.url)
  const base = c.var.config.PUBLIC_URL ?? (LOCAL_HOST.test(hostname) ? origin : undefined)
  if (base) return base
  log('error', 'PUBLIC_URL is missing: set it to the address at which clients reach this service')
  throw new ApiError('INTERNAL')
}

/** @throws INTERNAL if it is not configured */
export const imageBase = (c: Context<App>) => c.var.config.IMAGE_BASE_URL ?? publicBase(c)
