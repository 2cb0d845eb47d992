import type { Context, MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import * as z from 'zod/mini'
import type { App } from '../env'

const MAX_NAMES = 10
/** Safe in a header. */
const NAME = /^[\w.-]{1,40}$/

/** Clients of the contract send fields that these do not have. */
const CONTRACT = new Set([
  ...['POST /join', 'POST /login', 'PATCH /members/me'],
  ...['POST /books', 'PATCH /books/:book-id', 'POST /memos', 'PATCH /memos/:memo-id'],
])

/** The fields of a schema of an object. */
export const shapeOf = (schema: z.core.$ZodType | undefined): z.core.$ZodShape => {
  if (schema instanceof z.ZodMiniLazy) return shapeOf(schema.def.getter())
  if (schema instanceof z.ZodMiniPipe) return shapeOf(schema.def.in)
  return schema instanceof z.ZodMiniObject ? schema.shape : {}
}

const unknownNames = (sent: object, schema: z.core.$ZodType | undefined) => {
  const shape = shapeOf(schema)
  return Object.keys(sent).filter((name) => !Object.hasOwn(shape, name))
}

/** Notes the fields of a body that its schema does not have. */
export const noteIgnored = (c: Context<App>, body: object, schema: z.core.$ZodType) => {
  if (!CONTRACT.has(`${c.req.method} ${routePath(c)}`)) c.set('ignoredFields', unknownNames(body, schema))
}

/** Lists the query parameters and fields that a request has, but not its operation, in `X-Ignored`. */
export const reportIgnored: MiddlewareHandler<App> = async (c, next) => {
  await next()
  const [schema, fields] = [c.get('query'), c.get('ignoredFields')]
  // Of a request that was refused before, it is not known which parameters its operation has.
  const isRead = schema || fields || c.res.ok
  const ignored = [...(isRead ? unknownNames(c.req.query(), schema) : []), ...(fields ?? [])]
  if (ignored.length === 0) return
  const names = ignored.filter((name) => NAME.test(name)).slice(0, MAX_NAMES)
  const others = ignored.length - names.length
  c.header('X-Ignored', [...names, ...(others > 0 ? [`+${others}`] : [])].join(', '))
}
