import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import * as z from 'zod'
import type { App } from '../env'
import { bareText, jsonObject, multipartForm } from './body'
import { note } from './describe'
import { ApiError, fieldError } from './errors'

type Issue = z.core.$ZodIssue

const valueAt = (value: unknown, path: PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], value) ?? null

/** The first broken rule of each field, as `[name, value sent, reason]`. */
export const brokenRules = (issues: Issue[], value: unknown) => {
  const first = new Map<string, Issue>()
  for (const issue of issues) {
    const name = issue.path.join('.')
    if (!first.has(name)) first.set(name, issue)
  }
  return [...first].map(([name, { path, message }]) => [name, valueAt(value, path), message] as const)
}

/** Throws what is answered to a request that breaks rules. */
const refuse =
  (target: 'json' | 'query' | 'param') => (result: { success: boolean; error?: z.core.$ZodError; data: unknown }) => {
    if (result.success) return
    const broken = brokenRules(result.error?.issues ?? [], result.data)
    if (target === 'json') {
      throw new ApiError('INVALID_FIELDS', {
        fieldErrors: broken.map(([field, rejectedValue, reason]) => ({ field, rejectedValue, reason })),
      })
    }
    throw new ApiError('INVALID_PARAMETERS', {
      violationErrors: broken.map(([propertyPath, rejectedValue, reason]) => ({ propertyPath, rejectedValue, reason })),
    })
  }

const check = <Target extends 'json' | 'query' | 'param', Schema extends z.ZodType>(target: Target, schema: Schema) =>
  // At once: no rule here waits for anything, and zod takes longer over what may.
  zValidator(target, schema, refuse(target), {
    validationFunction: (rules, value) => z.safeParse(rules, value) as never,
  })

const inTurn = <Second extends MiddlewareHandler>(first: MiddlewareHandler<App>, second: Second) =>
  ((c, next) => first(c, () => second(c, next) as Promise<void>)) as Second

/**
 * Validates a part of the request by the schema, and notes the schema for the API's document.
 * @throws INVALID_FIELDS of a body, INVALID_PARAMETERS of a path or a query; before that what `jsonObject` throws.
 */
export const valid = <Target extends 'json' | 'query' | 'param', Schema extends z.ZodType>(
  target: Target,
  schema: Schema,
) => {
  const checked = check(target, schema)
  return note(target === 'json' ? inTurn(jsonObject, checked) : checked, { [target]: schema })
}

/** What a typed client sends is the bare string; what the handler finds is an object. */
type TextValidator<Field extends string, Schema extends z.ZodType> = MiddlewareHandler<
  App,
  string,
  { in: { json: z.input<Schema> }; out: { json: Record<Field, z.output<Schema>> } }
>

/** Validates a body that is a bare string; the handler finds it under the field's name in `c.req.valid('json')`. */
export const validText = <const Field extends string, Schema extends z.ZodType>(field: Field, schema: Schema) => {
  const object = z.object({ [field]: schema } as Record<Field, Schema>)
  const checked = inTurn(bareText(field), check('json', object))
  return note(checked as unknown as TextValidator<Field, Schema>, { text: object })
}

type FileInput<Field extends string> = {
  in: { form: Record<Field, File> }
  out: { form: Record<Field, Uint8Array<ArrayBuffer>> }
}

/**
 * Validates a multipart body with a file in one part; the handler finds its bytes in `c.req.valid('form')`, and may do
 * with them what it will.
 * @throws BODY_TOO_LARGE above so many bytes, INVALID_FIELDS when there is no such part
 */
export const validFile = <const Field extends string>(field: Field, maxBytes: number) => {
  const handler = multipartForm(maxBytes, (c, parts) => {
    const named = parts.filter(({ name }) => name === field)
    const [part, ...more] = named
    if (!part) throw fieldError(field, null, 'is required')
    if (named.some(({ isFile, content }) => isFile && content.length > maxBytes)) throw new ApiError('BODY_TOO_LARGE')
    if (!part.isFile || more.length > 0) throw fieldError(field, null, 'must be one part with a file name')
    c.req.addValidatedData('form', { [field]: part.content })
  })
  return note(handler as MiddlewareHandler<App, string, FileInput<Field>>, { file: { field, maxBytes } })
}
