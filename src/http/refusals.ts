// What the service answers to what it refuses, found by the very schemas that refuse: the document's examples.
import * as z from 'zod'
import type { Notes } from './describe'
import type { Details } from './errors'
import { brokenRules } from './validate'

const shapeOf = (schema: z.ZodType | undefined): Record<string, z.ZodType> => {
  if (schema instanceof z.ZodPipe) return shapeOf(schema.in as z.ZodType)
  return schema instanceof z.ZodObject ? schema.shape : {}
}

/** The first rule that a value breaks in one of the fields: `[field, value, reason]`. */
const findBroken = (schema: z.ZodType | undefined, value: string) => {
  for (const [field, rule] of Object.entries(shapeOf(schema))) {
    const result = rule.safeParse(value)
    const [broken] = result.success ? [] : brokenRules(result.error.issues, value)
    if (broken) return [field, value, broken[2]] as const
  }
  return undefined
}

/** A field error of a body that has one. */
export const badBody = ({ json, text, file }: Notes): Details | undefined => {
  if (file) return { fieldErrors: [{ field: file.field, rejectedValue: null, reason: 'is required' }] }
  const broken = json ? findBroken(json, '') : findBroken(text, 'yesterday')
  if (!broken) return undefined
  const [field, rejectedValue, reason] = broken
  return { fieldErrors: [{ field, rejectedValue, reason }] }
}

/** A violation of a path or a query that has one. */
export const badParameter = ({ param, query }: Notes): Details | undefined => {
  const broken = findBroken(param, '0') ?? findBroken(query, '0') ?? findBroken(param, ' ')
  if (!broken) return undefined
  const [propertyPath, rejectedValue, reason] = broken
  return { violationErrors: [{ propertyPath, rejectedValue, reason }] }
}
