import type { Context, MiddlewareHandler } from 'hono'
import * as z from 'zod/mini'
import type { App } from '../env'

const MAX_NAMES = 10
/** Safe in a header, and in a message. */
const NAME = /^[\w.$@:[\]-]{1,40}$/

/** At most ten of the names that a client sent, then `+` and the number of the others. */
export const listNames = (sent: string[]) => {
  const names = sent.filter((name) => NAME.test(name)).slice(0, MAX_NAMES)
  const others = sent.length - names.length
  return [...names, ...(others > 0 ? [`+${others}`] : [])].join(', ')
}

/** The fields of a schema of an object. */
export const shapeOf = (schema: z.core.$ZodType | undefined): z.core.$ZodShape => {
  if (schema instanceof z.ZodMiniLazy) return shapeOf(schema.def.getter())
  if (schema instanceof z.ZodMiniPipe) return shapeOf(schema.def.in)
  if (schema instanceof z.ZodMiniOptional) return shapeOf(schema.def.innerType)
  return schema instanceof z.ZodMiniObject ? schema.shape : {}
}

const unknownNames = (sent: object, schema: z.core.$ZodType | undefined) => {
  const shape = shapeOf(schema)
  return Object.keys(sent).filter((name) => !Object.hasOwn(shape, name))
}

/** Old spellings of fields, which do not count beside the present one. */
const PRESENT_NAMES = new Map([['readStratDate', 'readStartDate']])
/** Fields that count only beside another one that is sent, and not false. */
const NEEDED_NAMES = new Map([
  ['currentPassword', 'password'],
  ['date', 'finish'],
])

/** Fields that may be invalid only beside another one. */
const LENIENT_BESIDE = new Map([['isbn', 'title']])

const isValid = (field: z.core.$ZodType | undefined, value: unknown, isLenient: boolean) =>
  field instanceof z.ZodMiniCatch && isLenient ? z.safeParse(field.def.innerType, value).success : field !== undefined

/** The fields of a body that have no effect: unknown ones, invalid ones that are not refused, and those that others decide. */
export const ignoredFields = (body: object, schema: z.core.$ZodType): string[] => {
  const shape = shapeOf(schema)
  const fields = new Map(Object.entries(body))
  const isSent = (name = '') => fields.has(name)
  return Object.entries(body).flatMap(([name, value]) => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined
    const isDecided =
      isSent(PRESENT_NAMES.get(name)) || (NEEDED_NAMES.has(name) && !fields.get(NEEDED_NAMES.get(name) ?? ''))
    if (!isValid(field, value, isSent(LENIENT_BESIDE.get(name))) || isDecided) return [name]
    const isNested = field && typeof value === 'object' && value !== null && Object.keys(shapeOf(field)).length > 0
    return isNested ? ignoredFields(value, field).map((inner) => `${name}.${inner}`) : []
  })
}

/** `{}` says nothing. */
const MAX_EMPTY_BYTES = 2
const hasBody = (c: Context<App>) =>
  c.req.raw.body !== null && !(Number(c.req.header('Content-Length')) <= MAX_EMPTY_BYTES)

/** The names of headers on which a client relies, and which its operation does not read. */
const unreadHeaders = (c: Context<App>) => {
  const isWrite = c.req.method !== 'GET' && c.req.method !== 'HEAD'
  const names = [
    ...(c.get('key') ? [] : ['Idempotency-Key']),
    ...(c.get('readHeader') === 'If-Unchanged-Since' ? [] : ['If-Unchanged-Since']),
    ...(isWrite ? ['If-None-Match', 'If-Unmodified-Since'] : []),
  ]
  return names.filter((name) => c.req.header(name) !== undefined)
}

/** Lists in `X-Ignored` what of a request has no effect. `body`: the operation has none. */
export const reportIgnored: MiddlewareHandler<App> = async (c, next) => {
  await next()
  const [schema, fields] = [c.get('query'), c.get('ignoredFields')]
  // Of a request that was refused before, it is not known which parameters its operation has.
  const isRead = schema || fields || c.res.ok
  if (!isRead) return
  const unread = c.res.ok ? [...(!fields && hasBody(c) ? ['body'] : []), ...unreadHeaders(c)] : []
  const ignored = [...unknownNames(c.req.query(), schema), ...(fields ?? []), ...unread]
  if (ignored.length > 0) c.header('X-Ignored', listNames(ignored))
}
