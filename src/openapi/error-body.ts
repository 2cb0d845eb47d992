import * as z from 'zod/mini'
import { type ErrorBody as Body, MAX_LISTED_ERRORS } from '../errors'

const FieldError = z
  .object({ field: z.string(), rejectedValue: z.unknown(), reason: z.string() })
  .register(z.globalRegistry, { id: 'FieldError' })

const ViolationError = z
  .object({ propertyPath: z.string(), rejectedValue: z.unknown(), reason: z.string() })
  .register(z.globalRegistry, { id: 'ViolationError' })

export const ErrorBody = z
  .object({
    status: z.int().check(z.minimum(0), z.maximum(599)),
    message: z.nullable(z.string()),
    fieldErrors: z.nullable(z.array(FieldError).check(z.maxLength(MAX_LISTED_ERRORS))),
    violationErrors: z.nullable(z.array(ViolationError).check(z.maxLength(MAX_LISTED_ERRORS))),
  })
  .register(z.globalRegistry, { id: 'ErrorResponse' }) satisfies z.ZodMiniType<Body>
