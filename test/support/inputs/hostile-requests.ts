import { resolve } from '../document/document'
import { addressOf, bodyOf, type Operation, type Schema } from '../document/operations'
import type { HttpRequest } from '../service/http-client'
import { HOSTILE_TEXTS, repeatTo } from './hostile-texts'

// Requests to all operations, with texts that take the most work for their size.

/** Valid values of parameters: identifiers of what the caller has. */
export type Ids = Record<string, string>
/** What a request of an operation sends besides valid values: a text, which `part` repeats, of `factor` quarters of the limit. */
type Place = (
  operation: Operation,
  ids: Ids,
) => ((part: string, factor: number) => Omit<HttpRequest, 'token'>) | undefined

const MAX_FACTOR = 4
/** Of all fields, and of all parameters. */
const [BODY_BYTES, ADDRESS_BYTES, HEADER_BYTES] = [1_000_000, 12_000, 12_000]
/** A character of a hostile text takes up to three bytes in UTF-8, and a byte three in an address. */
const [BYTES, ENCODED_BYTES] = [3, 9]

/** A body without passwords: hashing one takes a hundred times as long as most requests, whatever the others take. */
const toBody = (operation: Operation, fields: object) => {
  const body = bodyOf(operation)
  if (typeof body !== 'object' || body === null) return body
  const others = Object.entries(body).filter(([name]) => !/password$/i.test(name))
  return { ...Object.fromEntries(others), ...fields }
}

const toValid = (operation: Operation, ids: Ids, fields: object = {}, values: Ids = {}) => {
  const body = toBody(operation, fields)
  return {
    method: operation.method,
    path: addressOf(operation, { ...ids, ...values }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}

const isText = ({ type, enum: names, format, pattern }: Schema, part: string) =>
  [type].flat().includes('string') && !names && !format && (!pattern || new RegExp(pattern, 'u').test(part))
/** A value of the most characters that a field or a parameter accepts. Undefined if it is no text. */
const toAccepted = (schema: Schema, part: string, share: number): unknown => {
  const { items, maxItems = 1, maxLength = 100, ...rest } = resolve(schema)
  if (isText(rest, part)) return repeatTo(part, maxLength * share)
  if (!items || !isText(resolve(items), part)) return undefined
  const length = (resolve(items).maxLength ?? 0) - 2
  return Array.from({ length: maxItems * share }, (_, n) => `${repeatTo(part, length)}${n}`)
}
const isPlain = (name: string) => /^(?:cursor|plan|link)$/.test(name)

const withAll = (names: string[], value: (at: number) => unknown) =>
  Object.fromEntries(names.map((name, at) => [name, value(at)]))

/** A header of one line. */
const withHeader = (names: string[]) => (operation: Operation, ids: Ids) =>
  names.length === 0
    ? undefined
    : (part: string, factor: number) => {
        const value = repeatTo(part, (HEADER_BYTES / BYTES / names.length / MAX_FACTOR) * factor)
        return { ...toValid(operation, ids), headers: names.map((name) => `${name}: ${value}\r\n`).join('') }
      }

/** Headers that the service, Hono or workerd may read in every operation. */
const GENERAL = ['Origin', 'Accept', 'Accept-Language', 'User-Agent', 'Cookie', 'Range', 'X-D1-Bookmark', 'Forwarded']

/** Places whose texts reach validation and stores, where each text takes another way. */
export const VARIED = ['texts up to their limits', 'long fields', 'long parameters']

/** Also as many headers are written. */
export const REQUEST_TEXTS = { ...HOSTILE_TEXTS, 'quoted items': '"a";q=1, ' }

/** Where a request can have text. */
export const PLACES: Record<string, Place> = {
  'texts up to their limits': (operation, ids) => {
    const { path, query, fields, schemas } = operation
    const names = [...path, ...query, ...fields].filter(
      (name) => !isPlain(name) && toAccepted(schemas[name] ?? {}, 'a', 1),
    )
    if (names.length === 0) return undefined
    return (part, factor) => {
      const accepted = names.flatMap((name) => {
        const value = toAccepted(schemas[name] ?? {}, part, factor / MAX_FACTOR)
        return value === undefined ? [] : [[name, value] as const]
      })
      const ofAddress = accepted
        .filter(([name]) => !fields.includes(name))
        .map(([name, value]) => [name, String(value)])
      return toValid(
        operation,
        ids,
        Object.fromEntries(accepted.filter(([name]) => fields.includes(name))),
        Object.fromEntries(ofAddress),
      )
    }
  },
  'long fields': (operation, ids) =>
    operation.fields.length === 0 || operation.types.includes('multipart/form-data')
      ? undefined
      : (part, factor) => {
          const length = (BODY_BYTES / BYTES / operation.fields.length / MAX_FACTOR) * factor
          return toValid(
            operation,
            ids,
            withAll(operation.fields, () => repeatTo(part, length)),
          )
        },
  'many fields': (operation, ids) =>
    operation.fields.length === 0 || operation.types.includes('multipart/form-data')
      ? undefined
      : (part, factor) => {
          const names = Array.from({ length: 5000 * factor }, (_, n) => `${repeatTo(part, 10)}${n}`)
          return toValid(
            operation,
            ids,
            withAll(names, (n) => n),
          )
        },
  'long parameters': (operation, ids) => {
    const names = [...operation.path, ...operation.query]
    if (names.length === 0) return undefined
    return (part, factor) => {
      const length = (ADDRESS_BYTES / ENCODED_BYTES / names.length / MAX_FACTOR) * factor
      return toValid(operation, ids, {}, withAll(names, () => repeatTo(part, length)) as Ids)
    }
  },
  'many parameters': (operation, ids) => (part, factor) => {
    const valid = toValid(operation, ids)
    const names = Array.from({ length: 100 * factor }, (_, n) => `${encodeURIComponent(part.slice(0, 2))}${n}=${n}`)
    return { ...valid, path: `${valid.path}${valid.path.includes('?') ? '&' : '?'}${names.join('&')}` }
  },
  'many segments of a path': (operation, ids) => (part, factor) => {
    const { path, ...valid } = toValid(operation, ids)
    return { ...valid, path: path.split('?')[0] + `/${encodeURIComponent(part.slice(0, 1))}`.repeat(300 * factor) }
  },
  'general headers': withHeader(GENERAL),
  ...Object.fromEntries(
    ['Idempotency-Key', 'If-Match', 'If-None-Match', 'If-Range'].map((name) => [
      name,
      (operation: Operation, ids: Ids) => withHeader(operation.headers.filter((each) => each === name))(operation, ids),
    ]),
  ),
  Authorization: withHeader(['Authorization']),
  'Content-Type': (operation, ids) =>
    operation.types.length === 0
      ? undefined
      : (part, factor) => ({
          ...toValid(operation, ids),
          type: `multipart/form-data; ${repeatTo(part, (HEADER_BYTES / BYTES / MAX_FACTOR) * factor)}`,
        }),
}
