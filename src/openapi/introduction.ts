// The document's introduction: what applies to all operations.

import { ERRORS, type ErrorCode, toErrorBody } from '../errors'
import {
  CATALOGUE_SEARCHES,
  EMAIL_CHANGES,
  EXPORT_PARTS,
  EXPORTS,
  GUESSES,
  type Limit,
  LOGINS,
  MAILS,
  MAILS_PER_NETWORK,
  PASSWORD_CHANGES,
  RESET_MAILS,
  RESETS,
  RESETS_OF_ANYONE,
} from '../limits/attempts'
import { MAX_FILES_PER_DAY, MAX_PER_DAY } from '../transfer/imports/schema'
import { SCOPES, type Scope } from '../values/contract'
import { DEEP_OFFSET } from '../values/paging'

/** What a client can do about each error. */
const ADVICE: Record<ErrorCode, string> = {
  INVALID_FIELDS: 'Show each `reason` next to its field.',
  INVALID_PARAMETERS: 'Correct the parameters in the path or the query.',
  BODY_MISSING: 'Send a body.',
  BODY_MALFORMED: 'Send a JSON object.',
  BODY_INCOMPLETE: 'The connection broke or was too slow: repeat the request.',
  AUTHORIZATION_NOT_ALLOWED: 'Send no token when signing up or logging in.',
  UNAUTHORIZED:
    'Log in again: the token is missing, malformed or expired, or its session has ended. An access token may have been deleted.',
  INSUFFICIENT_SCOPE: 'Create an access token with the scopes that the operation requires.',
  SESSION_REQUIRED: 'Log in: access tokens cannot manage accounts.',
  LOGIN_FAILED: 'Ask for e-mail and password again. The response is the same for unknown addresses.',
  NOT_FOUND: 'Correct the path.',
  BOOK_NOT_FOUND: 'The book was deleted, never existed, or belongs to another member.',
  MEMO_NOT_FOUND: 'The memo was deleted, never existed, or belongs to another member.',
  READING_NOT_FOUND: 'The reading was deleted, never existed, or belongs to another member.',
  IMAGE_NOT_FOUND: 'The image was deleted, never existed, or belongs to another member.',
  SESSION_NOT_FOUND: 'The session has ended, never existed, or belongs to another member.',
  TOKEN_NOT_FOUND: 'The access token was deleted, has expired, never existed, or belongs to another member.',
  IMPORT_NOT_FOUND: 'The import was undone or is older than 30 days, never existed, or belongs to another member.',
  TAG_NOT_FOUND: 'The tag was renamed or deleted, or never existed: list your tags again.',
  METHOD_NOT_ALLOWED: 'Use a method in the `Allow` header.',
  MEMBER_EXISTS: 'The address is taken: log in or, for a change of address, choose another one.',
  MAX_BOOKS: 'Delete books.',
  MAX_MEMOS_PER_BOOK: 'Delete memos of this book.',
  MAX_BOOK_TEXT_BYTES: 'Delete or shorten memos of this book.',
  MAX_MEMBER_TEXT_BYTES: 'Delete or shorten books, memos and notes on readings.',
  MAX_MEMBER_IMAGE_BYTES: 'Delete images.',
  MAX_READINGS: 'Delete readings of this book.',
  IMPORT_RUNNING: 'Wait until the other import is done, or delete it.',
  MAX_TOKENS: 'Delete access tokens.',
  MAX_TAGS: 'Delete or merge tags.',
  PRECONDITION_FAILED: 'The image is not the one in `If-Match` or `If-Unmodified-Since`: load it again.',
  BODY_TOO_LARGE: 'Send a smaller body.',
  FILE_TOO_LARGE: 'Choose a smaller file.',
  TOO_MANY_PIXELS: 'Scale the image down.',
  IMAGE_TOO_COMPLEX: 'Save the image again; if it is animated, with fewer frames.',
  FILE_NOT_IMPORTABLE: 'Send a file that the service supports: the message says what it found.',
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
    ['Mails to all addresses, requested from one network', toText(MAILS_PER_NETWORK.network)],
    ['Code attempts for one address from one network *', `5 per code, ${toText(GUESSES.network)}`],
    ['Code attempts for one address from all networks', toText(GUESSES.address)],
    ['Password resets requested for one address from one network *', toText(MAILS.network)],
    [
      'Reset mails with valid codes to one address, from all networks',
      `${toText(RESET_MAILS)}; further ones are not sent`,
    ],
    ['Reset codes tried for one address from one network *', toText(RESETS.network)],
    ['Reset codes tried for all addresses from one network', toText(RESETS_OF_ANYONE.network)],
    ['Changes of e-mail address requested in one session *', toText(EMAIL_CHANGES.session)],
    ['Changes to one e-mail address requested from one network *', toText(MAILS.network)],
    [
      'Mails to one address for changes to it that one member requests',
      `${toText(EMAIL_CHANGES.memberAddress)}; further ones are not sent`,
    ],
    [
      'Mails to one address for changes to it, from all networks',
      `${toText(EMAIL_CHANGES.address)}; further ones are not sent`,
    ],
    ['Codes for a change of e-mail address, tried in one session from one network *', toText(GUESSES.network)],
    ['Password changes in one session *', toText(PASSWORD_CHANGES)],
    ['Exports of one member, all formats together *', toText(EXPORTS)],
    ['Further parts of exports of one member *', toText(EXPORT_PARTS)],
    ['Searches of the catalogue from one network', toText(CATALOGUE_SEARCHES.network)],
    ['Imports of one member', `${MAX_PER_DAY} in 24 hours`],
    ['Files that one member sends to be imported, also refused ones', `${MAX_FILES_PER_DAY} in 24 hours`],
    ['Writes of one member', 'about 1,000 a minute'],
    ['Writes of account management in one session', 'about 1,000 a minute'],
    ['Uploads of one member', 'about 30 a minute'],
    [`Pages of one member that begin after the first ${DEEP_OFFSET.toLocaleString('en')} items`, 'about 30 a minute'],
    ['Requests for exports and their parts of one member', 'about 30 a minute in each format'],
    ['Book searches and memo searches of one member', 'about 30 a minute each'],
    ['Requests from one network with tokens that were not used within the last minute', 'about 3,000 a minute'],
    [
      'Sign-ups, logins, code requests, password resets, undos of a change of e-mail address, searches and lists of the catalogue from one network',
      'about 600 a minute each',
    ],
  ],
)

/** What each scope allows. */
const SCOPE_MEANINGS: Record<Scope, string> = {
  'library:read': 'read your books, with their readings, progress, tags and authors',
  'library:write':
    'register books, set their dates, add and delete readings, and delete tags; with `library:read`, change books, ' +
    'readings and tags, and add progress; with `memos:write`, delete books',
  'memos:read': 'read your memos and list your images',
  'memos:write': 'add and delete memos and images; with `memos:read`, change memos',
  'profile:read': 'read your name and e-mail address; with `library:read` and `memos:read`, export everything',
}

const scopeTable = toTable(
  ['Scope', 'Allows a token to'],
  (Object.keys(SCOPES) as Scope[]).map((scope) => [`\`${scope}\``, SCOPE_MEANINGS[scope]]),
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

Replace \`https://library.example.com\` with the URL of your service. The response to login has the header \`Authorization: Bearer <token>\`: set \`TOKEN\` to the part after \`Bearer \`.

${toBlock('sh', commands.join('\n\n'))}

If the operator has enabled e-mail verification, call \`requestCode\` first, and sign up with the code in the mail.

## Tokens

Operations marked with a lock need the header \`Authorization: Bearer <token>\`. Login creates a session and returns its token, which is valid for seven days and expires at its \`exp\` claim. Before that, \`renewSession\` returns a fresh token for the same session, for at most 90 days after the login. The operator can set other lifetimes. After a 401, log in again.

\`logOut\` ends the session, and \`endSession\` that of another device: all tokens of the session stop working immediately. A password change ends all other sessions of the member. A member has at most a hundred sessions: a further login ends the oldest. \`listActivity\` lists logins, including failed ones, and changes of the account.

For a forgotten password, call \`requestPasswordReset\`, then \`resetPassword\` with the code in the mail, which ends all sessions and access tokens. To change the e-mail address, call \`requestEmailChange\`, then \`changeEmail\` with the code in the mail to the new address.

Do not send a token when signing up or logging in. The catalogue, \`loadImage\`, \`requestCode\`, \`checkHealth\`, \`undoEmailChange\` and the operations that reset a password ignore it.

## Access tokens

Scripts and other apps should not use your password. Create an access token for each of them with \`createToken\`, which shows the token once, and delete it when it is no longer needed. It starts with \`rl_\`, and is sent as \`Authorization: Bearer rl_…\` or \`Authorization: Token rl_…\`. It stays valid until it expires or is deleted. A password change does not end it; a password reset, \`undoEmailChange\` and deleting the account do.

Each operation names the scopes that an access token needs. The token of a session needs none.

${scopeTable}

A token that lacks a required scope gets 403, and \`WWW-Authenticate\` names the required scopes. The account itself (password, e-mail address, sessions, access tokens, deletion) can only be managed with the token of a session: an access token gets 403 with \`SESSION_REQUIRED\`. Scopes are checked after parameters and body.

## Requests

- Bodies are JSON of at most 1 MiB, with \`Content-Type: application/json\` or without a content type. Unknown fields are ignored.
- Enumeration values can be sent by name. Those with a numeric code, such as \`DONE\` (2), can also be sent by code, as a number or a string. Responses always have names.
- Text must be well-formed Unicode without NUL characters. It is stored exactly as sent, but an empty author, publisher, cover, series or note is stored as null, and tags are trimmed and stored in NFC. Lengths count Unicode code points.
- If two requests change the same field, the later one wins.
- URLs in \`Location\` and \`Link\` may be relative to the URL of the request.
- \`HEAD\` works wherever \`GET\` does. Other methods get 405 with \`Allow\`. \`OPTIONS\` answers CORS preflight requests with 204.
- Only images and catalogue responses may be cached, for as long as \`Cache-Control\` says.
- CORS: all origins are allowed unless the operator has restricted them. Cross-origin requests can send the headers \`Authorization\`, \`Content-Type\`, \`If-None-Match\`, \`Range\` and \`X-D1-Bookmark\`, and can read all response headers described here except \`Accept-Ranges\` and \`Allow\`.

## Times

Times have the format \`yyyy-MM-ddTHH:mm:ss\`, without a time zone. Times that the service sets (\`createdAt\`, \`updatedAt\`) are in UTC unless the operator has set another time zone. Times of the account, such as those of sessions, and of progress end with \`Z\` and are always in UTC. Times that you send are returned as sent, without fractions of a second, so they are in your client's time zone.

## Pages

Most lists take \`page\`, which starts at 1, and \`size\`. \`pageInfo\` has the totals, \`Link\` the URLs of the \`first\`, \`prev\`, \`next\` and \`last\` page. A page past the end is not an error: \`item\` is empty, the totals are correct, and \`prev\` is the last page. Items added or deleted while you read shift the later pages.

Lists with \`next\` use a cursor instead: repeat the request with \`next\` as \`cursor\` until \`next\` is null. A page may have fewer items than \`size\`, or none, even if \`next\` is not null. Items added or deleted while you read do not shift the later pages.

## Errors

Every error body has the same four keys. Invalid fields are in \`fieldErrors\`, invalid parameters in \`violationErrors\`, at most 50 of each; in both cases, \`status\` is 0 and \`message\` null. For every other error, \`status\` is the HTTP status. Requests are checked in this order: token, parameters, body, existence of the resource.

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

The header \`X-Error-Code\` has the code, whose meaning never changes. Messages and reasons may be reworded.

${errorTable}

## Limits

The error codes that start with \`MAX_\` belong to quotas on what a member can store. The operator sets their values, except those of \`MAX_READINGS\`, \`MAX_TAGS\` and \`MAX_TOKENS\`; the error message names the value.

Requests above these limits get 429 with \`Retry-After\`, in seconds. A network is an IPv4 address or an IPv6 /64. Other reads with a token are not limited. A request counts towards a limit of its member only if its token is valid.

${rateTable}

The headers \`RateLimit-Policy\` and \`RateLimit\` show the limits marked with an asterisk, and how many attempts are left.

## Retries

- After 429 or 503, wait for the seconds in \`Retry-After\`. After 500, 502 or 504, or if there was no response, wait a second, and twice as long after each further failure.
- After 503 or no response, the request may have taken effect.
- \`GET\`, \`PUT\`, \`PATCH\` and \`DELETE\` are safe to repeat. A repeated deletion gets 404, or 401 if it was that of the account or of your own session, as does a repeated \`POST /logout\`. A repeated \`renameTag\` gets 404.
- \`POST /sessions/renew\` is safe to repeat: earlier tokens stay valid.
- \`POST /books/{book-id}/progress\` is safe to repeat with the same \`at\` in the past: it replaces the event at that time.
- \`POST /books\`, \`POST /memos\`, \`POST /books/{book-id}/readings\`, \`POST /tokens\` and uploads are not: each repetition adds another one. Check first whether the first one was stored.
- A repeated password reset, change of e-mail address or undo of one gets 400 if the first one took effect.
- A repeated sign-up gets 409 if the first one took effect; then log in.

## Reading your own writes

Reads may be answered by a nearby replica of the database, which lags slightly behind. Successful responses that used the database have the header \`X-D1-Bookmark\`. Send the last one you received with your next request: its response is then at least as recent. Error responses have none, so keep the last one. Requests without a bookmark are answered by the primary database.

## Versions

The API has one version, without a number in its paths. Changes are additive: operations, response fields, optional request fields, error codes and headers may be added, so ignore those you do not know. If an operation must be removed, this document first marks it as deprecated, and for at least twelve months its responses carry the headers \`Deprecation\` (RFC 9745) and \`Sunset\` (RFC 8594) with the dates.
`.trim()
