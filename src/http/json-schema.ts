import type { CreateDocumentOptions } from 'zod-openapi'
import { MAX_INT } from '../db/schema'
import { MAX_JSON_BYTES } from './body'

type Override = Extract<CreateDocumentOptions['override'], (...args: never[]) => unknown>
type JsonSchema = Parameters<Override>[0]['jsonSchema']

/** A choice among choices is one choice, and one of values one list of them. */
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

/** Says of each schema what is true of all of its kind, so that generated clients know what it may hold. */
export const complete: Override = ({ jsonSchema }) => {
  const { type } = jsonSchema
  if (type === 'integer') {
    // It is text to the rules that validate it.
    for (const keyword of ['pattern', 'maxLength'] as const) delete jsonSchema[keyword]
    jsonSchema.format = Number(jsonSchema.maximum) > MAX_INT ? 'int64' : 'int32'
  }
  // No text and no list is longer than a body may be.
  if (type === 'string' && !jsonSchema.enum && jsonSchema.const === undefined) jsonSchema.maxLength ??= MAX_JSON_BYTES
  if (type === 'array') jsonSchema.maxItems ??= MAX_JSON_BYTES
  // Generators take a field with a default for one that must be sent: its description tells instead.
  delete jsonSchema.default
  if (jsonSchema.anyOf) mergeChoices(jsonSchema)
}
