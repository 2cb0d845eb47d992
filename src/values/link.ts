import { BOOK_STATUSES, type LinkKind } from './contract'

/** What decides the form of a link's queries, so that one call can make them: the secret of the link names it, as a number. */
export type LinkShape = { bookStatus: (typeof BOOK_STATUSES)[number] | null; hasTag: boolean; year: number | null }

/** 0 if none. */
const toIndex = (status: LinkShape['bookStatus']) => (status === null ? 0 : BOOK_STATUSES.indexOf(status) + 1)

export const toVariant = ({ bookStatus, hasTag, year }: LinkShape) => year ?? 2 * toIndex(bookStatus) + Number(hasTag)

export const toShape = (kind: LinkKind, variant: number): LinkShape =>
  kind === 'YEAR'
    ? { bookStatus: null, hasTag: false, year: variant }
    : { bookStatus: BOOK_STATUSES[(variant >> 1) - 1] ?? null, hasTag: variant % 2 === 1, year: null }

/** The forms in which a link of a kind shows what it shows, by the suffix of its address. Without one, it is a page. */
export const SUFFIXES: Record<LinkKind, readonly string[]> = {
  SHELF: ['', '.json', '.feed.json', '.atom'],
  MEMOS: ['', '.json', '.feed.json', '.atom'],
  CALENDAR: ['', '.json', '.feed.json', '.atom', '.ics'],
  YEAR: ['', '.svg'],
}
