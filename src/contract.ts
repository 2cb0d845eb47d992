// The enumerations and limits of the contract, for the tables and for the schemas of requests and responses.

export const BOOK_STATUSES = ['YET', 'ING', 'DONE'] as const
export const MEMO_TYPES = ['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION'] as const
export const MEMO_AUTHORITIES = ['PRIVATE', 'PUBLIC'] as const

/** The image types that uploads may have. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'] as const

/** The largest value of the contract's int fields. */
export const MAX_INT = 2_147_483_647
