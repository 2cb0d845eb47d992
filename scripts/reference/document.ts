// The parts of the OpenAPI document that the page shows.

export type Schema = {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  enum?: string[]
  const?: string | number
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

export type Parameter = {
  $ref?: string
  in: 'path' | 'query' | 'header'
  name: string
  description?: string
  required?: boolean
  schema: Schema
  example?: unknown
}

export type Media = {
  schema?: Schema
  example?: unknown
  examples?: Record<string, { $ref?: string; summary?: string }>
}
export type Header = { $ref?: string; description: string }
export type Response = { description: string; headers?: Record<string, Header>; content?: Record<string, Media> }

export type Operation = {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: object[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, Response>
  'x-codeSamples': { label: string; source: string }[]
}

export type Document = {
  info: { title: string; summary: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, object>>
}

/** An operation with its place in the API. */
export type Endpoint = Operation & { method: string; path: string }

export const listEndpoints = ({ paths }: Document): Endpoint[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )

/** What an object refers to, or the object itself. */
export const resolve = <T extends { $ref?: string }>({ components }: Document, value: T): T => {
  if (!value.$ref) return value
  const [kind = '', name = ''] = value.$ref.split('/').slice(2)
  const found = components[kind]?.[name]
  if (!found) throw new Error(`The document has no ${value.$ref}`)
  const { $ref: _, ...own } = value
  return { ...found, ...own } as T
}

export const isSuccess = (status: string) => status < '4'
