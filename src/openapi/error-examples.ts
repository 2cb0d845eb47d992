// Validation errors as examples for the document, produced by the schemas that validate.
import * as z from 'zod/mini'
import type { Details } from '../errors'
import { firstIssues } from '../http/bodies/validate'
import type { RouteMetadata } from '../http/route-metadata'

const shapeOf = (schema: z.core.$ZodType | undefined): z.core.$ZodShape => {
  if (schema instanceof z.ZodMiniLazy) return shapeOf(schema.def.getter())
  if (schema instanceof z.ZodMiniPipe) return shapeOf(schema.def.in)
  return schema instanceof z.ZodMiniObject ? schema.shape : {}
}

/** The first field that rejects the value, and the reason. */
const findRejection = (schema: z.ZodMiniType | undefined, value: string) => {
  for (const [field, fieldSchema] of Object.entries(shapeOf(schema))) {
    const result = z.safeParse(fieldSchema, value)
    const [issue] = result.success ? [] : firstIssues(result.error.issues, value)
    if (issue) return { field, value, reason: issue[2] }
  }
  return undefined
}

/** A field error of the route's body, if any field can be invalid. */
export const exampleFieldError = ({ json, text, file }: RouteMetadata): Details | undefined => {
  if (file) return { fieldErrors: [{ field: file.field, rejectedValue: null, reason: 'is required' }] }
  const rejection = json ? findRejection(json, '') : findRejection(text, 'yesterday')
  if (!rejection) return undefined
  const { field, value: rejectedValue, reason } = rejection
  return { fieldErrors: [{ field, rejectedValue, reason }] }
}

/** A violation of the route's path or query parameters, if any can be invalid. */
export const exampleViolation = ({ param, query }: RouteMetadata): Details | undefined => {
  const rejection = findRejection(param, '0') ?? findRejection(query, '0') ?? findRejection(param ?? query, ' ')
  if (!rejection) return undefined
  const { field: propertyPath, value: rejectedValue, reason } = rejection
  return { violationErrors: [{ propertyPath, rejectedValue, reason }] }
}
