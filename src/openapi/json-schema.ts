import * as z from 'zod/mini'
import type { CreateDocumentOptions } from 'zod-openapi'
import { MAX_INT } from '../values/contract'
import { isLenient } from '../values/named'

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
export const adjustSchema: Override = ({ jsonSchema, zodSchema }) => {
  if (jsonSchema.anyOf && isLenient(zodSchema)) {
    Object.assign(jsonSchema, jsonSchema.anyOf[0])
    delete jsonSchema.anyOf
  }
  if (jsonSchema.anyOf) mergeChoices(jsonSchema, jsonSchema.anyOf)
  if ([jsonSchema.type].flat().includes('integer')) {
    // Left over from integer parameters, which are validated as text.
    for (const keyword of ['pattern', 'maxLength'] as const) delete jsonSchema[keyword]
    jsonSchema.format = Number(jsonSchema.maximum) > MAX_INT ? 'int64' : 'int32'
  }
  // zod leaves out the default of a parameter that is converted.
  if (zodSchema instanceof z.ZodMiniDefault) jsonSchema.default = zodSchema.def.defaultValue
  // Clients must accept the fields that later versions add to responses.
  delete jsonSchema.additionalProperties
}
