import type { Context } from 'hono'
import type { App } from '../env'

/** The /64 of an IPv6 address, which belongs to one customer; an IPv4 address unchanged. */
const toNetwork = (address: string) => {
  if (!address.includes(':')) return address
  const [head = [], tail] = address.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = tail ? Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0') : []
  return [...head, ...zeros, ...(tail ?? [])].slice(0, 4).join(':')
}

/** The network a request comes from. Cloudflare sets the header on every request, and clients cannot override it. */
export const networkOf = (c: Context<App>) => toNetwork(c.req.header('CF-Connecting-IP') ?? 'local')
