import type { Context } from 'hono'
import type { App } from '../env'
import { toNetwork } from '../values/network'

/** The network a request comes from. Cloudflare sets the header on every request, and clients cannot override it. */
export const networkOf = (c: Context<App>) => toNetwork(c.req.header('CF-Connecting-IP') ?? 'local')
