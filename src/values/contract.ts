// The enumerations and limits that the tables and the schemas of requests and responses share.

export const BOOK_STATUSES = ['YET', 'ING', 'DONE'] as const
export const MEMO_TYPES = ['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION'] as const
export const MEMO_AUTHORITIES = ['PRIVATE', 'PUBLIC'] as const

export const BOOK_FORMATS = ['PAPER', 'EBOOK', 'AUDIO'] as const
export const READING_OUTCOMES = ['FINISHED', 'STOPPED'] as const
export const PROGRESS_KINDS = ['PROGRESS', 'FINISHED', 'CORRECTION', 'UNDATED'] as const
/** What records progress, besides requests of the API and imports. */
export const PROGRESS_SOURCES = ['DEVICE'] as const
/** What the book of a document is: not known, one of the library, or none. */
export const DOCUMENT_STATES = ['WAITING', 'LINKED', 'NONE'] as const
export const GOAL_METRICS = ['BOOKS', 'PAGES'] as const

export const IMPORT_STATUSES = ['RUNNING', 'DONE', 'FAILED'] as const
export const IMPORT_OUTCOMES = ['created', 'updated', 'unchanged', 'skipped', 'failed'] as const
/** What an import does with a book that is here: fills what is empty, or replaces what the file has. */
export const MERGE_RULES = ['fill', 'overwrite'] as const

/** The image types that uploads may have. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

/** The largest value of the contract's int fields. */
export const MAX_INT = 2_147_483_647
/** The most characters of a title, an author, a publisher and a series. */
export const MAX_NAME = 500
/** The most characters of the URL of a cover. */
export const MAX_COVER = 2048
/** The most characters of a tag. */
export const MAX_TAG = 100

/** What an access token may do. The database stores sums of these bits, which must never change. */
export const SCOPES = {
  'library:read': 1,
  'library:write': 2,
  'memos:read': 4,
  'memos:write': 8,
  'profile:read': 16,
  'links:read': 32,
  'links:write': 64,
} as const
/** What the token of a device may do. It has none of the others. */
export const DEVICE_SCOPES = { 'intake:read': 128, 'intake:write': 256 } as const
export const ALL_SCOPES = { ...SCOPES, ...DEVICE_SCOPES }
export type Scope = keyof typeof ALL_SCOPES
/** The right of links. Tokens cannot have it, and only `showLink` requires it. */
const SHOW = { show: 2 ** 30 } as const
export type Right = Scope | keyof typeof SHOW
const BITS = { ...ALL_SCOPES, ...SHOW }
export const toBits = (rights: readonly Right[]) => rights.reduce((bits, right) => bits | BITS[right], 0)
export const fromBits = (bits: number) => (Object.keys(ALL_SCOPES) as Scope[]).filter((scope) => bits & BITS[scope])

export const ACTIVITY_KINDS = [
  'LOGIN',
  'LOGIN_FAILED',
  'SESSION_ENDED',
  'PASSWORD_CHANGED',
  'PASSWORD_RESET',
  'EMAIL_CHANGED',
  'EMAIL_RESTORED',
  'TOKEN_CREATED',
  'TOKEN_DELETED',
  'LINK_CREATED',
  'LINK_DELETED',
] as const

/** The most characters of the name of an access token or a link. */
export const MAX_LABEL = 100

/** What a link shows. Their order is part of the secrets of links: add new ones at the end. */
export const LINK_KINDS = ['SHELF', 'MEMOS', 'CALENDAR', 'YEAR'] as const
export type LinkKind = (typeof LINK_KINDS)[number]
