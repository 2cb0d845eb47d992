import type { CreateDocumentOptions } from 'zod-openapi'
import { MAX_INT } from '../values/contract'

type Override = Extract<CreateDocumentOptions['override'], (...args: never[]) => unknown>
type JsonSchema = Parameters<Override>[0]['jsonSchema']

const SCALARS = ['string', 'integer', 'number']

/**
 * Flattens nested choices, and turns a choice between a scalar and null into one schema of two types. Some generators
 * lose the items of arrays in that form.
 */
const mergeChoices = (schema: JsonSchema, choices: JsonSchema[]) => {
  const flat = choices.flatMap((each) => (Object.keys(each).join() === 'anyOf' && each.anyOf) || [each])
  const [first, second] = flat
  const isScalar = SCALARS.includes(String(first?.type)) && first?.const === undefined
  if (!isScalar || flat.length !== 2 || second?.type !== 'null') {
    schema.anyOf = flat
    return
  }
  delete schema.anyOf
  Object.assign(schema, first, { type: [first?.type, 'null'] })
}

/** Adjusts each generated JSON Schema: adds integer formats, and removes what generators misunderstand. */
export const adjustSchema: Override = ({ jsonSchema }) => {
  if (jsonSchema.anyOf) mergeChoices(jsonSchema, jsonSchema.anyOf)
  if ([jsonSchema.type].flat().includes('integer')) {
    // Left over from integer parameters, which are validated as text.
    for (const keyword of ['pattern', 'maxLength'] as const) delete jsonSchema[keyword]
    jsonSchema.format = Number(jsonSchema.maximum) > MAX_INT ? 'int64' : 'int32'
  }
  // Generators treat a field with a default as required; the description states the default instead.
  delete jsonSchema.default
  // Clients must accept the fields that later versions add to responses.
  delete jsonSchema.additionalProperties
}
