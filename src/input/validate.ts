import { zValidator } from '@hono/zod-validator'
import type { Context, MiddlewareHandler } from 'hono'
import * as z from 'zod/mini'
import type { App } from '../env'
import {
  ApiError,
  fieldError,
  formRequired,
  invalidFields,
  invalidParameters,
  MAX_LISTED_ERRORS,
  type Rejection,
} from '../errors'
import { annotate } from '../http/description/route-metadata'
import { ignoredFields, listNames, shapeOf } from '../http/ignored'
import { decodeBody, MAX_JSON_BYTES, mediaTypeOf, parseJson, parseObject, SMALL_BYTES, withBody } from './body'
import { type FormPart, readForm } from './multipart'
import { hashBytes, hashText } from './request-key'

// Why bodies do not go through zValidator: docs/decisions/0018-validation.md.

const valueAt = (value: unknown, path: PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], value) ?? null

/** The first issue of each field, of as many fields as an error lists. */
export const firstIssues = (issues: z.core.$ZodIssue[], value: unknown) => {
  const first = new Map<string, z.core.$ZodIssue>()
  for (const issue of issues) {
    const name = issue.path.join('.')
    if (!first.has(name)) first.set(name, issue)
    if (first.size === MAX_LISTED_ERRORS) break
  }
  return [...first].map(([name, { path, message }]): Rejection => [name, valueAt(value, path), message])
}

const isDecodable = (text: string) => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Hono passes on a parameter that it cannot decode. */
const refuseEncoding = (url: string) => {
  if (!url.includes('%')) return
  const pairs = new URL(url).search.slice(1).split('&')
  const rejections = pairs
    .filter((pair) => !isDecodable(pair))
    .map((pair): Rejection => {
      const [name = '', ...value] = pair.split('=')
      return [name, value.join('='), 'must be percent-encoded UTF-8, with %25 for %']
    })
  if (rejections.length > 0) throw invalidParameters(...rejections)
}

/** Says of a parameter in the query where it belongs, and that it may not be repeated, unless it accepts an array. */
const ofQuery =
  (schema: z.ZodMiniType) =>
  ([name, value, reason]: Rejection): Rejection => {
    if (Array.isArray(value) && !isRepeatable(shapeOf(schema)[name])) return [name, value, 'must be sent only once']
    return [name, value, reason === 'is required' ? 'is required in the query' : reason]
  }
const isRepeatable = (field: z.core.$ZodType | undefined) => field !== undefined && z.safeParse(field, []).success

/** Query and path parameters, by zValidator. */
const checkParameters = <Target extends 'query' | 'param', Schema extends z.ZodMiniType>(
  target: Target,
  schema: Schema,
) =>
  zValidator(
    target,
    schema,
    (result, c) => {
      if (target === 'query') {
        ;(c as unknown as Context<App>).set('query', schema)
        refuseEncoding(c.req.url)
      }
      if (result.success) return
      const rejections = firstIssues(result.error.issues as z.core.$ZodIssue[], result.data)
      throw invalidParameters(...(target === 'query' ? rejections.map(ofQuery(schema)) : rejections))
    },
    // No rule is asynchronous, and zod is slower when it has to expect one.
    { validationFunction: (rules, value) => z.safeParse(rules, value) as never },
  )

/**
 * Reads a header that a request may have.
 * @throws INVALID_PARAMETERS when the schema rejects it
 */
export const readHeader = <Schema extends z.ZodMiniType>(c: Context<App>, name: string, schema: Schema) => {
  c.set('readHeader', name)
  const value = c.req.header(name)
  if (value === undefined) return undefined
  const { success, data, error } = z.safeParse(schema, value)
  if (success) return data
  throw invalidParameters([name, value, error.issues[0]?.message ?? ''])
}

/** No field may have more elements. Checked before validation, which would report each of them. */
const MAX_ELEMENTS = 200

const refuseManyElements = (body: object, schema: z.ZodMiniType) => {
  const shape = shapeOf(schema)
  for (const [field, value] of Object.entries(body)) {
    if (!Object.hasOwn(shape, field)) continue
    const isMany = typeof value === 'object' && value !== null && Object.keys(value).length > MAX_ELEMENTS
    if (isMany) throw fieldError(field, value, `must have at most ${MAX_ELEMENTS} entries`)
  }
}

export const checkFields = <Schema extends z.ZodMiniType>(schema: Schema, body: object) => {
  refuseManyElements(body, schema)
  const { success, data, error } = z.safeParse(schema, body)
  if (success) return data
  throw invalidFields(...firstIssues(error.issues, body))
}

export type Validator<Target extends 'json' | 'form', In, Out> = MiddlewareHandler<
  App,
  string,
  { in: Record<Target, In>; out: Record<Target, Out> }
>

/** Sorts the keys of an object: a client that encodes a request again may write them in another order. */
const sortKeys = (_: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value
/** The same text for all ways to write the same JSON. */
const toCanonical = (json: Uint8Array) => JSON.stringify(JSON.parse(new TextDecoder().decode(json)), sortKeys)

/** Hashes the request for its key. Of a form, only the file counts: its boundary differs in each attempt. */
const hashRequest = async (c: Context<App>, kind: 'json' | 'upload', bytes: Uint8Array<ArrayBuffer>) => {
  const key = c.get('key')
  if (!key) return
  const { pathname, search } = new URL(c.req.url)
  const hash = await (kind === 'json' ? hashText(toCanonical(bytes)) : hashBytes(bytes))
  c.set('key', { ...key, requestHash: await hashText(`${c.req.method} ${pathname}${search} ${hash}`) })
}

/** The most that a form may add to its file: boundaries, part headers and small fields. */
const FORM_OVERHEAD_BYTES = 65_536

/** Reads a body once, and stores the result of `parse` as validated data. `maxBytes`: of an upload, without form. */
export const bodyValidator =
  (
    kind: 'json' | 'upload',
    maxBytes: number,
    parse: (bytes: Uint8Array<ArrayBuffer>, c: Context<App>) => object,
  ): MiddlewareHandler<App> =>
  (c, next) =>
    withBody(c, kind, kind === 'upload' ? maxBytes + FORM_OVERHEAD_BYTES : maxBytes, async (bytes, release) => {
      c.set('ignoredFields', [])
      if (bytes.length === 0) throw new ApiError('BODY_MISSING')
      const data = parse(bytes, c)
      await hashRequest(c, kind, kind === 'json' ? bytes : (Object.values(data)[0] as typeof bytes))
      // If validation keeps little of a large body, free it: the request may wait long, for example to hash a password.
      if (kind === 'json' && bytes.length > SMALL_BYTES && JSON.stringify(data).length <= SMALL_BYTES) release()
      c.req.addValidatedData(kind === 'json' ? 'json' : 'form', data)
      await next()
    })

const validJson = <Schema extends z.ZodMiniType>(schema: Schema) =>
  bodyValidator('json', MAX_JSON_BYTES, (bytes, c) => {
    const { body, repeated } = parseObject(decodeBody(c, bytes))
    c.set('ignoredFields', [...new Set([...ignoredFields(body, schema), ...repeated])])
    return checkFields(schema, body) as object
  }) as unknown as Validator<'json', z.input<Schema>, z.output<Schema>>

type ValidatorOf<Target extends 'query' | 'param' | 'json', Schema extends z.ZodMiniType> = Target extends 'json'
  ? Validator<'json', z.input<Schema>, z.output<Schema>>
  : ReturnType<typeof checkParameters<Exclude<Target, 'json'>, Schema>>

/** Validates the query, the path parameters or the JSON body. The schema also goes into the OpenAPI document. */
export const valid = <Target extends 'query' | 'param' | 'json', Schema extends z.ZodMiniType>(
  target: Target,
  schema: Schema,
) => {
  const validator = target === 'json' ? validJson(schema) : checkParameters(target, schema)
  return annotate(validator, { [target]: schema }) as ValidatorOf<Target, Schema>
}

/**
 * Validates a body that is a bare string, sent as text or as a JSON string. Handlers find it under the field's name in
 * `c.req.valid('json')`, while typed clients send the string itself.
 */
export const validText = <const Field extends string, Schema extends z.ZodMiniType>(field: Field, schema: Schema) => {
  const object = z.object({ [field]: schema } as Record<Field, Schema>)
  const validator = bodyValidator('json', MAX_JSON_BYTES, (bytes, c) => {
    const text = decodeBody(c, bytes, 'text/plain').trim()
    if (/^[{[]/.test(text)) throw fieldError(field, text, 'must be sent by itself, not in an object or an array')
    return checkFields(object, { [field]: text.startsWith('"') ? parseJson(text) : text })
  })
  return annotate(validator as Validator<'json', z.input<Schema>, Record<Field, z.output<Schema>>>, { text: object })
}

/**
 * @param names of the parts that the operation has: the first one is the file
 * @throws INVALID_FIELDS when the form cannot be read
 */
export const readParts = (c: Context<App>, bytes: Uint8Array<ArrayBuffer>, ...names: [field: string, ...string[]]) => {
  const [field] = names
  const type = c.req.header('Content-Type') ?? ''
  const form = readForm(bytes, type)
  if (form) {
    const sent = new Set(form.map(({ name }) => name))
    c.set('ignoredFields', [...sent.difference(new Set(names))])
    return form
  }
  const reason = /boundary=/i.test(type)
    ? 'cannot be read: the multipart form is malformed or cut off'
    : 'cannot be read: Content-Type has no boundary, which your client adds if you do not set the header'
  throw fieldError(field, null, reason)
}

/** The error of a form without its file. */
export const fileMissing = (field: string, form: FormPart[]) => {
  const names = new Set(form.map(({ name }) => name))
  const isRenamed = names.size > 0 && !names.has(field)
  return fieldError(field, null, `is required${isRenamed ? `: the form has ${listNames([...names])} instead` : ''}`)
}

/**
 * Validates a multipart body with one file. Handlers find its bytes in `c.req.valid('form')` and may detach them.
 * @throws FILE_TOO_LARGE for a file above `maxBytes`, INVALID_FIELDS when the field is missing or not a single file
 */
export const validFile = <const Field extends string>(field: Field, maxBytes: number) => {
  const validator = bodyValidator('upload', maxBytes, (bytes, c) => {
    if (mediaTypeOf(c) !== 'multipart/form-data') throw formRequired()
    const form = readParts(c, bytes, field)
    // Browsers send an empty file without a name when no file was chosen.
    const isChosen = ({ fileName, content }: FormPart) => fileName !== '' || content.length > 0
    const parts = form.filter((part) => part.name === field && isChosen(part))
    const [part, ...others] = parts
    if (!part) throw fileMissing(field, form)
    if (parts.some(({ fileName, content }) => fileName !== undefined && content.length > maxBytes))
      throw new ApiError('FILE_TOO_LARGE')
    if (part.fileName === undefined || others.length > 0)
      throw fieldError(field, null, 'must be a single part with a file name')
    return { [field]: part.content }
  })
  return annotate(validator as Validator<'form', Record<Field, File>, Record<Field, Uint8Array<ArrayBuffer>>>, {
    file: { field, maxBytes },
  })
}
