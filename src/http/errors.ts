import type { Context } from 'hono'
import * as z from 'zod'

/** Every error that the service answers: its status, and the message that a person reads. */
export const ERRORS = {
  INVALID_FIELDS: [400, null],
  INVALID_PARAMETERS: [400, null],
  BODY_MISSING: [400, 'Required request body is missing'],
  BODY_MALFORMED: [400, 'Malformed JSON request'],
  AUTHORIZATION_NOT_ALLOWED: [400, 'The Authorization header must not be sent with this request'],
  UNAUTHORIZED: [401, 'A valid access token is required'],
  LOGIN_FAILED: [401, 'Wrong e-mail or password'],
  NOT_FOUND: [404, 'There is nothing at this address'],
  BOOK_NOT_FOUND: [404, 'Book not found'],
  MEMO_NOT_FOUND: [404, 'Memo not found'],
  IMAGE_NOT_FOUND: [404, 'Image not found'],
  METHOD_NOT_ALLOWED: [405, 'This method is not allowed here'],
  MEMBER_EXISTS: [409, 'Member already exists'],
  PRECONDITION_FAILED: [412, 'It is not what the request says it should be'],
  BODY_TOO_LARGE: [413, 'The request body is too large'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The content type is not supported here'],
  RANGE_NOT_SATISFIABLE: [416, 'There is no such part'],
  TOO_MANY_REQUESTS: [429, 'Too many requests: try again later'],
  INTERNAL: [500, 'Something went wrong on our side'],
  CATALOGUE_FAILED: [502, 'The book catalogue gave no good answer'],
  CATALOGUE_BUSY: [503, 'The book catalogue is asked too often: try again later'],
  CATALOGUE_TIMED_OUT: [504, 'The book catalogue did not answer in time'],
  UNAVAILABLE: [503, 'The service is not available right now'],
} as const satisfies Record<string, readonly [number, string | null]>

export type ErrorCode = keyof typeof ERRORS

export const FieldError = z
  .object({ field: z.string(), rejectedValue: z.unknown(), reason: z.string() })
  .meta({ id: 'FieldError', description: 'A field of the body that broke a rule; rejectedValue is null when absent.' })
export type FieldError = z.infer<typeof FieldError>

export const ViolationError = z
  .object({ propertyPath: z.string(), rejectedValue: z.unknown(), reason: z.string() })
  .meta({ id: 'ViolationError', description: 'A path or query parameter that broke a rule.' })
export type ViolationError = z.infer<typeof ViolationError>

export const ErrorBody = z
  .object({
    status: z.int().min(0).max(599),
    message: z.string().nullable(),
    fieldErrors: z.array(FieldError).nullable(),
    violationErrors: z.array(ViolationError).nullable(),
  })
  .meta({ id: 'Error', description: 'Every error has these four keys; status is 0 where rules of fields are broken.' })
export type ErrorBody = z.infer<typeof ErrorBody>

export type Details = {
  fieldErrors?: FieldError[]
  violationErrors?: ViolationError[]
  headers?: Record<string, string>
}

/** The one error class: whatever is thrown that is not one is unforeseen, and answered by INTERNAL. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly details: Details

  /** `cause` is what went wrong behind it: for the log, never for the answer. */
  constructor(code: ErrorCode, details: Details = {}, cause?: unknown) {
    super(cause ? `${code}: ${cause}` : code, { cause })
    this.code = code
    this.details = details
  }
}

const PASSES_IN_SECONDS = 5

/** What is asked of fails or is overloaded, and will pass; the cause is logged. */
export const unavailable = (cause?: unknown) =>
  new ApiError('UNAVAILABLE', { headers: { 'Retry-After': String(PASSES_IN_SECONDS) } }, cause)

export const fieldError = (field: string, rejectedValue: unknown, reason: string) =>
  new ApiError('INVALID_FIELDS', { fieldErrors: [{ field, rejectedValue, reason }] })

/** Refuses for a while: `seconds` until it is worth trying again. */
export const tooMany = (seconds: number) =>
  new ApiError('TOO_MANY_REQUESTS', { headers: { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) } })

/** The value, or the error that it is absent. */
export const found = <T>(value: T | undefined, code: ErrorCode): T => {
  if (value === undefined) throw new ApiError(code)
  return value
}

export const toErrorBody = (code: ErrorCode, details: Details = {}): ErrorBody => {
  const [httpStatus, message] = ERRORS[code]
  return {
    status: message === null ? 0 : httpStatus,
    message,
    fieldErrors: details.fieldErrors ?? null,
    violationErrors: details.violationErrors ?? null,
  }
}

export const answerError = (c: Context, { code, details }: ApiError) => {
  const [httpStatus] = ERRORS[code]
  const headers = httpStatus === 401 ? { 'WWW-Authenticate': 'Bearer', ...details.headers } : details.headers
  return c.json(toErrorBody(code, details), httpStatus, headers)
}

/** Refuses every method that got past the ones named: where a fixed word must not be taken for an identifier. */
export const only =
  (...methods: string[]) =>
  (): never => {
    throw new ApiError('METHOD_NOT_ALLOWED', { headers: { Allow: methods.join(', ') } })
  }
