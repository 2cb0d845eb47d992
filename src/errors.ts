import type { Scope } from './values/contract'
import { type Quota, type Quotas, quotaMessage } from './values/quotas'

/** Every error the service can return: HTTP status and message. */
export const ERRORS = {
  INVALID_FIELDS: [400, null],
  INVALID_PARAMETERS: [400, null],
  BODY_MISSING: [400, 'Required request body is missing'],
  BODY_MALFORMED: [400, 'Malformed JSON request'],
  BODY_INCOMPLETE: [400, 'The request body was cut off or sent too slowly'],
  IF_MATCH_UNSUPPORTED: [
    400,
    'If-Match works only with PATCH and DELETE /memos/{memo-id}: send this request without it',
  ],
  AUTHORIZATION_NOT_ALLOWED: [400, 'The Authorization header must not be sent with this request'],
  UNAUTHORIZED: [401, 'A token is required: send the header Authorization, with Bearer, a space and the token'],
  LOGIN_FAILED: [401, 'Wrong e-mail or password'],
  ORIGIN_NOT_ALLOWED: [403, 'Pages of this origin may not use the service: the operator can add it to CORS_ORIGINS'],
  MEMBER_BLOCKED: [403, 'This account is blocked: contact the operator of the service'],
  SESSION_REQUIRED: [403, 'Access tokens are not accepted here: log in and use the token of the session'],
  INSUFFICIENT_SCOPE: [403, 'The access token lacks a required scope'],
  NOT_FOUND: [404, 'No resource at this path: see /docs for all paths'],
  BOOK_NOT_FOUND: [404, 'Book not found'],
  MEMO_NOT_FOUND: [404, 'Memo not found'],
  READING_NOT_FOUND: [404, 'Reading not found'],
  IMAGE_NOT_FOUND: [404, 'Image not found'],
  SESSION_NOT_FOUND: [404, 'Session not found'],
  TOKEN_NOT_FOUND: [404, 'Access token not found'],
  TAG_NOT_FOUND: [404, 'Tag not found'],
  LINK_NOT_FOUND: [404, 'Link not found: it may have ended'],
  GOAL_NOT_FOUND: [404, 'Goal not found'],
  IMPORT_NOT_FOUND: [404, 'Import not found'],
  DOCUMENT_NOT_FOUND: [404, 'Document not found: no device has pushed it'],
  TRASH_NOT_FOUND: [404, 'Not found in the trash: it may have been restored, or deleted for good'],
  METHOD_NOT_ALLOWED: [405, 'Method not allowed'],
  MEMBER_EXISTS: [409, 'Member already exists'],
  MAX_BOOKS: [409, quotaMessage('MAX_BOOKS')],
  MAX_MEMOS_PER_BOOK: [409, quotaMessage('MAX_MEMOS_PER_BOOK')],
  MAX_BOOK_TEXT_BYTES: [409, quotaMessage('MAX_BOOK_TEXT_BYTES')],
  MAX_MEMBER_TEXT_BYTES: [409, quotaMessage('MAX_MEMBER_TEXT_BYTES')],
  MAX_MEMBER_IMAGE_BYTES: [409, quotaMessage('MAX_MEMBER_IMAGE_BYTES')],
  MAX_IDEMPOTENCY_KEYS: [409, quotaMessage('MAX_IDEMPOTENCY_KEYS')],
  MAX_READINGS: [409, 'Limit reached: 200 past readings per book'],
  READING_OPEN: [409, 'The book is being read: end its open reading first'],
  MAX_BOOK_TAGS: [409, 'Limit reached: 30 tags per book'],
  MAX_TOKENS: [409, 'Limit reached: 50 access tokens per member'],
  MAX_LINKS: [409, 'Limit reached: 50 links per member'],
  MAX_STATS_ROWS: [
    409,
    'Limit reached: 50,000 readings, progress events or memos in a year, or 1,048,576 characters of titles, authors and tags',
  ],
  MAX_TAGS: [409, 'Limit reached: 2,000 tags per member'],
  BOOK_NOT_IN_LIBRARY: [409, 'The book of this memo is not in the library: restore it first'],
  IMPORT_RUNNING: [409, 'Another import is running'],
  RESYNC_REQUIRED: [410, 'This cursor is too old, or from before the database was restored: start without one'],
  CREATED_AND_DELETED: [410, 'Already created with this Idempotency-Key, and deleted since'],
  PRECONDITION_FAILED: [412, 'Precondition failed'],
  BODY_TOO_LARGE: [413, 'Request body too large'],
  FILE_TOO_LARGE: [413, 'File too large: at most 10 MiB'],
  TOO_MANY_PIXELS: [413, 'Image too large: at most 268 megapixels (268,435,456 pixels)'],
  IMAGE_TOO_COMPLEX: [413, 'Image too complex: at most 20,000 frames, chunks, segments and blocks'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Unsupported media type: send Content-Type: application/json'],
  UNSUPPORTED_IMAGE: [415, 'Unsupported file type: must be a PNG, JPEG, GIF or WebP image'],
  IMAGE_DAMAGED: [415, 'Damaged image: the file is corrupt or truncated'],
  IDEMPOTENCY_KEY_REUSED: [422, 'This Idempotency-Key was used with another request: send a new one'],
  FILE_NOT_IMPORTABLE: [422, 'The file cannot be imported'],
  ISBN_NOT_FOUND: [422, 'The book catalogue has no book with this ISBN: send its title, too'],
  RANGE_NOT_SATISFIABLE: [416, 'Range not satisfiable'],
  TOO_MANY_REQUESTS: [429, 'Too many requests: try again later'],
  INTERNAL: [500, 'Internal server error'],
  CATALOGUE_FAILED: [502, 'The book catalogue returned an error'],
  CATALOGUE_BUSY: [503, 'The book catalogue is over its request limit: try again later'],
  CATALOGUE_TIMED_OUT: [504, 'The book catalogue did not answer in time'],
  UNAVAILABLE: [503, 'Service unavailable: try again later'],
} as const satisfies Record<string, readonly [number, string | null]>

export type ErrorCode = keyof typeof ERRORS

type FieldError = { field: string; rejectedValue: unknown; reason: string }
type ViolationError = { propertyPath: string; rejectedValue: unknown; reason: string }
/** The body of every error. */
export type ErrorBody = {
  status: number
  message: string | null
  fieldErrors: FieldError[] | null
  violationErrors: ViolationError[] | null
}

export type Details = {
  /** Replaces the message of the code. */
  message?: string
  fieldErrors?: FieldError[]
  violationErrors?: ViolationError[]
  headers?: Record<string, string>
  /** Further keys of the body. */
  further?: Record<string, unknown>
  /** The limit that refused the request, as docs/limits.md names it: for the log. */
  limit?: string
}

/** The only error class that is sent to clients. Anything else that is thrown becomes INTERNAL. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly details: Details

  /** @param cause the underlying failure: logged, never sent to the client */
  constructor(code: ErrorCode, details: Details = {}, cause?: unknown) {
    super(cause ? `${code}: ${cause}` : code, { cause })
    this.code = code
    this.details = details
  }
}

/** No limit lasts longer than a day. */
export const MAX_RETRY_SECONDS = 86_400

/** Whole seconds from 1 to MAX_RETRY_SECONDS. */
export const wholeSeconds = (seconds: number) => Math.min(Math.max(1, Math.ceil(seconds)), MAX_RETRY_SECONDS)

/** The Retry-After header. */
export const retryAfter = (seconds: number): Details => ({ headers: { 'Retry-After': String(wholeSeconds(seconds)) } })

const UNAVAILABLE_RETRY_SECONDS = 5

/** A dependency is temporarily failing or overloaded. The cause is logged. */
export const unavailable = (cause?: unknown, message?: string) =>
  new ApiError('UNAVAILABLE', { ...retryAfter(UNAVAILABLE_RETRY_SECONDS), message }, cause)

const MAINTENANCE_RETRY_SECONDS = 60

/** The operator has stopped all changes. */
export const underMaintenance = () =>
  new ApiError('UNAVAILABLE', {
    ...retryAfter(MAINTENANCE_RETRY_SECONDS),
    message: 'Under maintenance: nothing can be changed, try again later',
  })

/** @param limit its name in docs/limits.md */
export const tooManyRequests = (limit: string, retrySeconds: number, headers?: Details['headers']) =>
  new ApiError('TOO_MANY_REQUESTS', { limit, headers: { ...retryAfter(retrySeconds).headers, ...headers } })

/** The limit or quota that refused a request, as docs/limits.md names it. */
export const limitOf = (error: unknown) => {
  if (!(error instanceof ApiError)) return undefined
  return error.details.limit ?? (error.code.startsWith('MAX_') ? error.code : undefined)
}

export const fieldError = (field: string, rejectedValue: unknown, reason: string, headers?: Details['headers']) =>
  new ApiError('INVALID_FIELDS', { fieldErrors: [{ field, rejectedValue, reason }], headers })

/** What is wrong with a field or a parameter. */
export type Rejection = readonly [name: string, rejectedValue: unknown, reason: string]

/** Invalid fields of the body. */
export const invalidFields = (...rejections: Rejection[]) =>
  new ApiError('INVALID_FIELDS', {
    fieldErrors: rejections.map(([field, rejectedValue, reason]) => ({ field, rejectedValue, reason })),
  })

/** Invalid parameters in the path, the query or a header. */
export const invalidParameters = (...rejections: Rejection[]) =>
  new ApiError('INVALID_PARAMETERS', {
    violationErrors: rejections.map(([propertyPath, rejectedValue, reason]) => ({
      propertyPath,
      rejectedValue,
      reason,
    })),
  })

export const methodNotAllowed = (methods: string[]) => {
  const Allow = methods.join(', ')
  return new ApiError('METHOD_NOT_ALLOWED', { message: `Method not allowed: use ${Allow}`, headers: { Allow } })
}

/** @param mistake without anything that was sent */
export const malformedBody = (mistake: string) =>
  new ApiError('BODY_MALFORMED', { message: `${ERRORS.BODY_MALFORMED[1]}: ${mistake}` })

/** Instead of JSON, the operation takes a form. */
export const formRequired = () =>
  new ApiError('UNSUPPORTED_MEDIA_TYPE', { message: 'Unsupported media type: send a form as multipart/form-data' })

/** Why credentials are refused. None says more than their sender knows: whose they are, and what becomes of others. */
const REFUSALS = {
  missing: undefined,
  bare: 'The Authorization header has only the token: send Bearer and a space before it',
  doubled: 'The Authorization header has the scheme twice: login returns the token with Bearer before it',
  malformed: 'The token is malformed, or not from this service: send it exactly as it was issued',
  expired: 'The token has expired: log in again',
  ended: 'The session has ended, or the access token was deleted or has expired: log in, or create another token',
}

export const unauthorized = (reason: keyof typeof REFUSALS) =>
  new ApiError('UNAUTHORIZED', {
    message: REFUSALS[reason],
    // RFC 6750, section 3.1: no error code for a request without a token.
    headers: { 'WWW-Authenticate': reason === 'missing' ? 'Bearer' : 'Bearer error="invalid_token"' },
  })

/** The access token lacks a scope that the operation requires (RFC 6750, section 3.1). */
export const insufficientScope = (required: readonly Scope[]) =>
  new ApiError('INSUFFICIENT_SCOPE', {
    message: `The access token must have the scope${required.length > 1 ? 's' : ''} ${required.join(' and ')}`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${required.join(' ')}"` },
  })

/** A write would exceed a quota. */
export const quotaExceeded = (quota: Quota, quotas: Quotas) =>
  new ApiError(quota, { message: quotaMessage(quota, quotas[quota]) })

/** Returns the value, or throws the error if it is undefined. */
export const found = <T>(value: T | undefined, code: ErrorCode): T => {
  if (value === undefined) throw new ApiError(code)
  return value
}

/** The most entries of `fieldErrors` and of `violationErrors`. */
export const MAX_LISTED_ERRORS = 50

export const toErrorBody = (code: ErrorCode, details: Details = {}): ErrorBody => {
  const [httpStatus, message] = ERRORS[code]
  return {
    status: message === null ? 0 : httpStatus,
    message: details.message ?? message,
    fieldErrors: details.fieldErrors?.slice(0, MAX_LISTED_ERRORS) ?? null,
    violationErrors: details.violationErrors?.slice(0, MAX_LISTED_ERRORS) ?? null,
    ...details.further,
  }
}
