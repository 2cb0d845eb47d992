import { MAX_MEMBER_TEXT_BYTES, TEXT_COPIES } from './prices'
import { fold, isAscii, unlessLower } from './text/fold'

const MIB = 1024 * 1024

/** The most that a member or a book can hold. Settings of the same names change the limits. */
export const DEFAULT_QUOTAS = {
  MAX_BOOKS: 20_000,
  MAX_MEMOS_PER_BOOK: 3000,
  /** UTF-8 bytes of the memos of one book. */
  MAX_BOOK_TEXT_BYTES: 8 * MIB,
  /** UTF-8 bytes of a member's memos, notes on readings and texts of books, and the prices of rows: prices.ts. */
  MAX_MEMBER_TEXT_BYTES,
  MAX_MEMBER_IMAGE_BYTES: 1024 * MIB,
  /** A member can create and delete a thousand books a minute, each with a key. */
  MAX_IDEMPOTENCY_KEYS: 20_000,
}
export type Quotas = typeof DEFAULT_QUOTAS
export type Quota = keyof Quotas

/** The quotas alone, out of all settings: what statements get as values. */
export const limitsOf = (settings: Quotas): Quotas => {
  const { MAX_BOOKS, MAX_MEMOS_PER_BOOK, MAX_BOOK_TEXT_BYTES, MAX_MEMBER_TEXT_BYTES } = settings
  const { MAX_MEMBER_IMAGE_BYTES, MAX_IDEMPOTENCY_KEYS } = settings
  const ofTexts = { MAX_BOOKS, MAX_MEMOS_PER_BOOK, MAX_BOOK_TEXT_BYTES, MAX_MEMBER_TEXT_BYTES }
  return { ...ofTexts, MAX_MEMBER_IMAGE_BYTES, MAX_IDEMPOTENCY_KEYS }
}

/** The columns of members for quotas of their own. */
export const OWN_QUOTAS = {
  MAX_BOOKS: 'maxBooks',
  MAX_MEMBER_TEXT_BYTES: 'maxTextBytes',
  MAX_MEMBER_IMAGE_BYTES: 'maxImageBytes',
} as const satisfies Partial<Record<Quota, string>>
export type OwnQuota = keyof typeof OWN_QUOTAS

// Not toLocaleString, which would add milliseconds to the start of each isolate.
const count = (limit: number) => String(limit).replace(/\B(?=(?:\d{3})+$)/g, ',')
const size = (bytes: number) => (bytes > 0 && bytes % MIB === 0 ? `${count(bytes / MIB)} MiB` : `${count(bytes)} bytes`)

const LIMITS: Record<Quota, (limit: number) => string> = {
  MAX_BOOKS: (limit) => `${count(limit)} books per member`,
  MAX_MEMOS_PER_BOOK: (limit) => `${count(limit)} memos per book`,
  MAX_BOOK_TEXT_BYTES: (limit) => `${size(limit)} of memo text per book`,
  MAX_MEMBER_TEXT_BYTES: (limit) => `${size(limit)} of text and rows per member`,
  MAX_MEMBER_IMAGE_BYTES: (limit) => `${size(limit)} of images per member`,
  MAX_IDEMPOTENCY_KEYS: (limit) => `${count(limit)} idempotency keys per member`,
}

/** The error message when a write would exceed a quota. */
export const quotaMessage = (quota: Quota, limit = DEFAULT_QUOTAS[quota]) => `Limit reached: ${LIMITS[quota](limit)}`

const encoder = new TextEncoder()

/** The UTF-8 bytes of some texts: what quotas count. */
export const utf8Bytes = (...texts: (string | null | undefined)[]) => {
  const present = texts.filter(Boolean)
  // All texts at once, because every call has a fixed cost. The separator keeps halves of surrogate pairs apart.
  const joined = present.join('\n')
  const bytes = isAscii(joined) ? joined.length : encoder.encode(joined).length
  return bytes - Math.max(0, present.length - 1)
}

/** What some texts of a book count, as `textPrice` in SQL. */
export const priceOfTexts = (texts: Partial<Record<string, string | null>>) =>
  utf8Bytes(
    ...Object.entries(texts).flatMap(([name, text]) => Array.from({ length: TEXT_COPIES[name] ?? 1 }, () => text)),
  )

/**
 * The folded content of a memo. Null, too, if it is over a quarter longer than a text of some length: NFC makes some
 * characters three times as long, for which the price of a memo has no room. Such a text is found as it is stored.
 */
export const toFoldedMemo = (text: string | undefined) => {
  const folded = text === undefined ? null : unlessLower(fold(text), text)
  return folded !== null && utf8Bytes(folded) > 1.25 * utf8Bytes(text) + 200 ? null : folded
}
