// Reading time of devices, as uploads of KOReader's statistics leave it in the database.

/** Identifiers of access tokens that are gone. */
export const TOKENS = ['a', 'b', 'c'].map((letter) => `${letter.repeat(8)}-aaaa-4aaa-8aaa-${letter.repeat(12)}`)

export type Counted = {
  document?: string
  tokenId?: string
  day: string
  seconds: number
  /** When it was uploaded, in milliseconds since 1970. */
  at?: number
}

/** Adds what uploads counted. A document without `bookId` waits for a book; one that is there keeps its own. */
export const sittingRows = (database: D1Database, memberId: number, bookId: number | null, counted: Counted[]) =>
  counted.flatMap(({ document = `of ${bookId}`, tokenId = TOKENS[0], day, seconds, at = 0 }) => [
    database
      .prepare(`insert into documents (memberId, document, createdAt, bookId, seconds) values (?, ?, 0, ?, ?)
        on conflict do update set seconds = seconds + excluded.seconds`)
      .bind(memberId, document, bookId, seconds),
    database
      .prepare(`insert into sittings (memberId, tokenId, at, document, day, seconds) values (?, ?, ?, ?, ?, ?)`)
      .bind(memberId, tokenId, at, document, day, seconds),
  ])
