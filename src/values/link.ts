import { BOOK_STATUSES, type LinkKind } from './contract'

type BookStatus = (typeof BOOK_STATUSES)[number]
/** What selects a link's queries. It is encoded in the secret, so that the queries need no earlier database call. */
export type LinkShape =
  | { kind: 'YEAR'; year: number }
  | { kind: 'SHELF'; bookStatus: BookStatus | null; hasTag: boolean }
  | { kind: 'MEMOS' | 'CALENDAR' }

/** The number that the secret has beside the kind. */
export const toVariant = (link: LinkShape) => {
  if (link.kind === 'YEAR') return link.year
  if (link.kind !== 'SHELF') return 0
  const status = link.bookStatus === null ? 0 : BOOK_STATUSES.indexOf(link.bookStatus) + 1
  return 2 * status + Number(link.hasTag)
}

export const toShape = (kind: LinkKind, variant: number): LinkShape => {
  if (kind === 'YEAR') return { kind, year: variant }
  if (kind !== 'SHELF') return { kind }
  return { kind, bookStatus: BOOK_STATUSES[(variant >> 1) - 1] ?? null, hasTag: variant % 2 === 1 }
}

/** The suffixes that each kind of link supports. Without one, the response is an HTML page. */
export const SUFFIXES: Record<LinkKind, readonly string[]> = {
  SHELF: ['', '.json', '.feed.json', '.atom'],
  MEMOS: ['', '.json', '.feed.json', '.atom'],
  CALENDAR: ['', '.json', '.feed.json', '.atom', '.ics'],
  YEAR: ['', '.svg'],
}
