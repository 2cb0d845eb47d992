// The text before the operations: what is true of all of them.
import { ERRORS, type ErrorCode, toErrorBody } from '../errors'
import { GUESSES, type Limit, LOGINS, MAILS, MAILS_TO_ANYONE, PASSWORD_CHANGES } from '../members/attempts'

/** What a client can do about each error. */
const ADVICE: Record<ErrorCode, string> = {
  INVALID_FIELDS: 'Show each `reason` next to its field.',
  INVALID_PARAMETERS: 'Correct the parameters in the path or the query.',
  BODY_MISSING: 'Send a body.',
  BODY_MALFORMED: 'Send a JSON object.',
  BODY_INCOMPLETE: 'The connection broke or was too slow: send the request again.',
  AUTHORIZATION_NOT_ALLOWED: 'Send no token when signing up or logging in.',
  UNAUTHORIZED: 'Log in again: the token is missing, malformed, expired or revoked.',
  LOGIN_FAILED: 'Ask for e-mail and password again. The answer is the same for unknown addresses.',
  NOT_FOUND: 'There is no such path: correct the client.',
  BOOK_NOT_FOUND: 'The book was deleted, never existed, or belongs to another member.',
  MEMO_NOT_FOUND: 'The memo was deleted, never existed, or belongs to another member.',
  IMAGE_NOT_FOUND: 'The image was deleted, never existed, or belongs to another member.',
  METHOD_NOT_ALLOWED: 'Use a method in the `Allow` header.',
  MEMBER_EXISTS: 'Log in instead.',
  MAX_BOOKS: 'Delete books.',
  MAX_MEMOS_PER_BOOK: 'Delete memos of this book.',
  MAX_BOOK_TEXT_BYTES: 'Delete or shorten memos of this book.',
  MAX_MEMBER_TEXT_BYTES: 'Delete or shorten books and memos.',
  MAX_MEMBER_IMAGE_BYTES: 'Delete images.',
  PRECONDITION_FAILED: 'The image is not the one in `If-Match` or `If-Unmodified-Since`: load it again.',
  BODY_TOO_LARGE: 'Send less.',
  FILE_TOO_LARGE: 'Choose a smaller file.',
  TOO_MANY_PIXELS: 'Scale the image down.',
  UNSUPPORTED_MEDIA_TYPE: 'Send the `Content-Type` that the operation describes.',
  UNSUPPORTED_IMAGE: 'Choose an image of one of these types.',
  IMAGE_DAMAGED: 'Choose another file.',
  RANGE_NOT_SATISFIABLE: 'Request a range within the size in `Content-Range`.',
  TOO_MANY_REQUESTS: 'Wait for the seconds in `Retry-After`.',
  INTERNAL: 'Report it with the `X-Request-Id` of the response.',
  CATALOGUE_FAILED: 'Try again later.',
  CATALOGUE_BUSY: 'Wait for the seconds in `Retry-After`.',
  CATALOGUE_TIMED_OUT: 'Try again later.',
  UNAVAILABLE: 'Wait for the seconds in `Retry-After`.',
}

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
] as const

const toWindow = (windowMs: number) => {
  const [ms, unit] = UNITS.find(([length]) => windowMs % length === 0) ?? [1000, 'second']
  return windowMs === ms ? `a ${unit}`.replace('a hour', 'an hour') : `in ${windowMs / ms} ${unit}s`
}
const toText = (limits: Limit[]) => limits.map(({ max, windowMs }) => `${max} ${toWindow(windowMs)}`).join(', ')

const toTable = (titles: string[], rows: string[][]) =>
  [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const errorTable = toTable(
  ['Code', 'Status', 'Message', 'What to do'],
  (Object.keys(ERRORS) as ErrorCode[])
    .toSorted((one, other) => ERRORS[one][0] - ERRORS[other][0])
    .map((code) => [`\`${code}\``, String(ERRORS[code][0]), ERRORS[code][1] ?? '', ADVICE[code]]),
)

const rateTable = toTable(
  ['What', 'At most'],
  [
    ['Failed logins to one account from one network *', toText(LOGINS.network)],
    ['Verification mails to one address, requested from one network *', toText(MAILS.network)],
    ['Verification mails to one address, from all networks', toText(MAILS.address)],
    ['Verification mails to all addresses, requested from one network', toText(MAILS_TO_ANYONE.network)],
    ['Tries of codes for one address from one network *', `5 per code, ${toText(GUESSES.network)}`],
    ['Tries of codes for one address from all networks', toText(GUESSES.address)],
    ['Password changes of one member *', toText(PASSWORD_CHANGES)],
    ['Writes of one member', 'about 1,000 a minute'],
    ['Uploads of one member', 'about 30 a minute'],
    [
      'Sign-ups, logins, code requests, searches and lists of the catalogue from one network',
      'about 600 a minute each',
    ],
  ],
)

const toBlock = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``

/**
 * The introduction, in Markdown.
 * @param commands the first steps of a client, as shell commands
 */
export const introduce = (commands: string[]) =>
  `
The backend of a personal reading library. Members register the books that they read, write memos on them, and put images in the memos.

## First steps

Replace \`https://library.example.com\` with the address of the service that served this document. The response to login has the header \`Authorization: Bearer <token>\`. Set \`TOKEN\` to the part after \`Bearer \`.

${toBlock('sh', commands.join('\n\n'))}

If the service verifies e-mail addresses, which its operator decides, call \`requestCode\` first, and sign up with the code in the mail.

## Tokens

Operations that are marked with a lock need the header \`Authorization: Bearer <token>\`. Login returns a token, which is valid for seven days unless the operator of the service has set another time. Its \`exp\` claim tells when it ends. A token cannot be renewed: after a 401, log in again. A password change ends all tokens but the one that made it. Withdrawal ends all of them. A forgotten password cannot be reset yet.

Do not send a token when signing up or logging in. The catalogue, \`loadImage\`, \`requestCode\` and \`checkHealth\` ignore it.

## Requests

- Bodies are JSON of at most 1 MiB, with \`Content-Type: application/json\` or without a content type. Unknown fields are ignored.
- Statuses, types and visibilities can be sent by name or by code, as a number or in quotes. Responses always have names.
- Text must be well-formed Unicode without NUL characters. It is stored exactly as sent, but an empty author, publisher or cover is stored as null. Lengths count Unicode code points.
- Of two changes to the same field, the later one wins.
- Addresses in \`Location\` and \`Link\` may be relative to the address of the request.
- \`HEAD\` works wherever \`GET\` does. Other methods get 405 with \`Allow\`. \`OPTIONS\` answers CORS preflight requests with 204.
- Responses must not be cached unless \`Cache-Control\` says how long: those of images and of the catalogue.
- Web pages of any origin may call the service unless its operator has listed the allowed ones. From another origin, they can send the headers \`Authorization\`, \`Content-Type\`, \`If-None-Match\`, \`Range\` and \`X-D1-Bookmark\`, and read all that are described here but \`Accept-Ranges\` and \`Allow\`.

## Times

Times have the format \`yyyy-MM-ddTHH:mm:ss\`, without a time zone. Times that the service sets (\`createdAt\`, \`updatedAt\`) are in the time zone of the service, which is UTC unless its operator has set another. Times that you send are returned as sent, without fractions of a second, so they are in whatever zone your client uses.

## Pages

Lists take \`page\`, which starts at 1, and \`size\`. \`pageInfo\` has the totals. \`Link\` has the addresses of the \`first\`, \`prev\`, \`next\` and \`last\` page. A page past the end is an empty \`item\` with true totals, not an error; its \`prev\` is the last page. Items that are added or deleted while you read shift the later pages.

## Errors

Every error has the same four keys. Invalid fields are in \`fieldErrors\`, invalid parameters in \`violationErrors\`; then \`status\` is 0 and \`message\` null. For every other error, \`status\` is the HTTP status. Requests are checked in this order: token, parameters, body, and then whether what they name exists.

${toBlock(
  'json',
  JSON.stringify(
    toErrorBody('INVALID_FIELDS', {
      fieldErrors: [{ field: 'name', rejectedValue: ' ', reason: 'must not be blank' }],
    }),
    null,
    2,
  ),
)}

The header \`X-Error-Code\` has the code, which never changes its meaning. Messages and reasons may be reworded.

${errorTable}

## Limits

The codes above that start with \`MAX_\` limit what a member can store. The operator may set other values: the message names the one in force.

More frequent requests than these get 429 with \`Retry-After\`, in seconds. A network is an IPv4 address or an IPv6 /64. Reads with a token have no limit.

${rateTable}

* \`RateLimit-Policy\` and \`RateLimit\` in the responses show these limits, and what is left of them.

## Trying again

- After 429 or 503, wait for the seconds in \`Retry-After\`. After 500, 502 or 504, or without any answer, wait a second, and twice as long after each further failure.
- After 503 or without an answer, the request may have taken effect.
- \`GET\`, \`PATCH\` and \`DELETE\` are safe to repeat. A second deletion gets 404, or 401 if it was that of the account.
- \`POST /books\`, \`POST /memos\` and uploads are not: each repetition adds another one. Look first whether it is there.
- A repeated sign-up gets 409 if the first one took effect: log in then.

## Reading your own writes

Answers may come from a replica of the database near the client, which lags behind for a moment. A successful response that used the database has the header \`X-D1-Bookmark\`. Send the last one with your next request, and its answer is at least as recent. Errors have none: keep the last one. Without it, the primary database answers.

## Versions

There is one version, without a number in its paths. Changes only add to it: operations, fields in responses, optional fields in requests, error codes and headers may be added, so ignore what you do not know. Nothing is removed or changes its meaning. Should an operation ever have to go, this document marks it as deprecated, and for at least twelve months its responses carry the headers \`Deprecation\` (RFC 9745) and \`Sunset\` (RFC 8594) with the dates.
`.trim()
