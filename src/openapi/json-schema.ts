import type { CreateDocumentOptions } from 'zod-openapi'
import { MAX_INT } from '../contract'
import { MAX_JSON_BYTES } from '../http/body'

type Override = Extract<CreateDocumentOptions['override'], (...args: never[]) => unknown>
type JsonSchema = Parameters<Override>[0]['jsonSchema']

/** Flattens nested choices, and turns a choice of constants into one enum. */
const mergeChoices = (schema: JsonSchema) => {
  const choices = (schema.anyOf ?? []).flatMap((each) => (Object.keys(each).join() === 'anyOf' && each.anyOf) || [each])
  const values = choices.map((each) => each.enum ?? (each.const === undefined ? undefined : [each.const]))
  if (values.includes(undefined)) {
    schema.anyOf = choices
    return
  }
  delete schema.anyOf
  schema.enum = values.flatMap((each) => each ?? [])
}

/** Adjusts each generated JSON Schema: adds integer formats and length limits, and simplifies choices. */
export const adjustSchema: Override = ({ jsonSchema }) => {
  const { type } = jsonSchema
  if (type === 'integer') {
    // Left over from integer parameters, which are validated as text.
    for (const keyword of ['pattern', 'maxLength'] as const) delete jsonSchema[keyword]
    jsonSchema.format = Number(jsonSchema.maximum) > MAX_INT ? 'int64' : 'int32'
  }
  // No text or list can be longer than the largest body.
  if (type === 'string' && !jsonSchema.enum && jsonSchema.const === undefined) jsonSchema.maxLength ??= MAX_JSON_BYTES
  if (type === 'array') jsonSchema.maxItems ??= MAX_JSON_BYTES
  // Code generators treat a field with a default as required; the description states the default instead.
  delete jsonSchema.default
  if (jsonSchema.anyOf) mergeChoices(jsonSchema)
}
