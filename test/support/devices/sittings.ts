// Reading time of devices, as uploads of KOReader's statistics leave it in the database.
import { select } from '../database'

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

/** Adds what uploads counted. A document without `bookId` waits for a book. */
export const insertSittings = async (memberId: number, bookId: number | null, counted: Counted[]) => {
  for (const { document = `of ${bookId}`, tokenId = TOKENS[0], day, seconds, at = 0 } of counted) {
    await select(
      `insert into documents (memberId, document, createdAt, bookId, seconds) values (?, ?, 0, ?, ?)
      on conflict do update set seconds = seconds + excluded.seconds`,
      ...[memberId, document, bookId, seconds],
    )
    await select(
      `insert into sittings (memberId, tokenId, at, document, day, seconds) values (?, ?, ?, ?, ?, ?)`,
      ...[memberId, tokenId, at, document, day, seconds],
    )
  }
}

/** Adds an event with minutes, on the page of the event before it. */
export const insertMinutes = (memberId: number, bookId: number, at: number, minutes: number) =>
  select(
    `insert into progress (memberId, bookId, at, page, kind, total, minutes)
    select ?1, ?2, ?3, coalesce(max(page), 0), 'PROGRESS', count(*) + 1, ?4 from progress where memberId = ?1 and bookId = ?2`,
    ...[memberId, bookId, at, minutes],
  )
