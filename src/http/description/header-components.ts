// The request and response headers, for the components of the document.
import { MAX_RETRY_SECONDS } from '../../errors'

const BOOKMARK = '^(?:[1-9][0-9]{0,3}:)?[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$'
const HTTP_DATE = '^[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} \\d{2}:\\d{2}:\\d{2} GMT$'

type Schema = { $ref: string } | { type: 'string' | 'integer'; [keyword: string]: unknown }

const header = (description: string, schema: Schema, required = true) => ({ description, required, schema })
const text = (keywords: object = {}) => ({ type: 'string' as const, ...keywords })
const pattern = (source: string) => text({ pattern: source })

/** The headers of responses. Required headers are in every response that lists them. */
export const RESPONSE_HEADERS = {
  'Accept-Ranges': header('Always `bytes`: range requests are supported.', text({ const: 'bytes' })),
  'Access-Control-Allow-Origin': header('The origin of the request, if it may read the response.', text(), false),
  Authorization: header(
    'The token, as `Bearer <JWT>`. Send it in the request header of the same name.',
    pattern('^Bearer [\\w-]+\\.[\\w-]+\\.[\\w-]+$'),
  ),
  'Cache-Control': header(
    'How long the response may be cached.',
    pattern('^(?:public, (?:max-age|no-cache)|private, no-cache)'),
  ),
  'Content-Disposition': header('The name of the file.', pattern('^attachment; filename="[\\w.-]+"$')),
  'Content-Security-Policy': header('What the page may load. Only pages have it.', text(), false),
  'Content-Range': header(
    'The range returned and the size of the file; with 416, only the size.',
    pattern('^bytes (?:\\d+-\\d+|\\*)/\\d+$'),
  ),
  ETag: header(
    'The version of the memo, for `If-Match`, or of the image or link, for `If-None-Match`.',
    pattern('^"[^"]+"$'),
  ),
  'Cross-Origin-Opener-Policy': header('Separates the page from others. Only pages have it.', text(), false),
  'Idempotency-Replayed': header(
    'If an earlier request with the same `Idempotency-Key` created what the response shows.',
    text({ const: 'true' }),
    false,
  ),
  'Last-Modified': header('When the image was stored.', pattern(HTTP_DATE)),
  Link: header(
    'The `first`, `prev`, `next` and `last` page, or the `first` and `next` part (RFC 8288). The first page has no `prev`; the last page or part has no `next`.',
    text(),
  ),
  Location: header('The URL of what was created.', text({ format: 'uri-reference' })),
  RateLimit: header(
    'The tightest limit in `RateLimit-Policy`: at most `r` more attempts within `t` seconds. Absent where these limits do not apply.',
    pattern('^"[a-z-]+";r=\\d+;t=\\d+$'),
    false,
  ),
  'RateLimit-Policy': header(
    'The limits on your attempts, or on those of your network: at most `q` in `w` seconds.',
    pattern('^"[a-z-]+";q=\\d+;w=\\d+(?:, "[a-z-]+";q=\\d+;w=\\d+)*$'),
    false,
  ),
  'Retry-After': header('Seconds to wait before the next attempt.', {
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: MAX_RETRY_SECONDS,
  }),
  'WWW-Authenticate': header(
    'The authentication scheme; with 401 for a token that is not valid, also `error="invalid_token"`; with 403, the scopes that the access token must have.',
    pattern('^Bearer(?: error="(?:invalid_token|insufficient_scope", scope="[a-z:]+(?: [a-z:]+)*)")?$'),
  ),
  'X-D1-Bookmark': header(
    'The state of the database after this request. Send it with the next request, which a nearby replica may then answer.',
    pattern(BOOKMARK),
    false,
  ),
  'X-Error-Code': header('The error code. Unlike `message`, it does not change.', {
    $ref: '#/components/schemas/ErrorCode',
  }),
  'X-Ignored': header(
    'What you sent and had no effect: query parameters, fields and parts of a form that the operation does not have; an invalid `isbn` of a new book; a field that is sent twice, of which the last one counts; `body`, if the operation has none; `Idempotency-Key`, `If-Unchanged-Since` and, for writes, `If-None-Match` and `If-Unmodified-Since`, if the operation does not list them. At most ten names, then `+` and the number of others.',
    pattern('^(?:[\\w.$@:\\[\\]-]{1,40}|\\+\\d+)(?:, (?:[\\w.$@:\\[\\]-]{1,40}|\\+\\d+)){0,10}$'),
    false,
  ),
  'X-Robots-Tag': header('Search engines should not list it.', text({ const: 'noindex' })),
  'X-Request-Id': header('Identifies the request in the log of the service.', text({ format: 'uuid' })),
} satisfies Record<string, ReturnType<typeof header>>
export type HeaderName = keyof typeof RESPONSE_HEADERS

/** The headers of every response, and those that show a limit on attempts. */
export const COMMON_HEADERS = ['X-Request-Id', 'X-Ignored', 'Access-Control-Allow-Origin']
export const RATE_LIMIT = ['RateLimit', 'RateLimit-Policy']

/** References to response headers. */
export const refer = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const REQUEST_HEADER_TEXTS = {
  Accept: 'If it prefers `text/plain`, the URL is returned as plain text, otherwise as JSON.',
  'Idempotency-Key':
    'A new random value, such as a UUID: 1 to 64 visible ASCII characters, in quotes or not. Repeated with the same key, the request creates nothing more.',
  'If-Match': 'Entity tags. 412 unless the image or the memo has one of them. Tags of memos may be weak (`W/`).',
  'If-Modified-Since': 'A date. 304 if the image has not changed since.',
  'If-None-Match': 'Entity tags. 304 if the image or the link has one of them.',
  'If-Range': 'An entity tag. `Range` is ignored unless the image has it.',
  'If-Unchanged-Since':
    '`next` of the last page of changes. 412 if the book or anything of it may have changed since: a memo, a reading, its progress or tags.',
  'If-Unmodified-Since': 'A date. 412 if the image has changed since.',
  Range: 'One range of bytes to return, such as `bytes=0-1023`.',
  'X-D1-Bookmark':
    'The value of this header in the last response that had it. The response is then at least as recent, and may come from a nearby replica.',
}
export type RequestHeaderName = keyof typeof REQUEST_HEADER_TEXTS

/** The headers of requests besides Authorization and Content-Type. Malformed ones are ignored: no patterns. */
export const REQUEST_HEADERS = Object.fromEntries(
  Object.entries(REQUEST_HEADER_TEXTS).map(([name, description]) => [
    name,
    { name, in: 'header' as const, description, required: false, schema: text() },
  ]),
)
