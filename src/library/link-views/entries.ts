import { toPlain } from '../../values/text/plain'
import type { Zone } from '../../values/time'
import { createMemoWriter } from './memo-html'
import type { About, Item, LinkView } from './store'

/** What a link shows, as an entry of a page or a feed. Times are in milliseconds since 1970. */
export type FeedEntry = {
  /** Unique and unchanging: a tag URI (RFC 4151). */
  id: string
  title: string
  author: string | null
  /** One line about it. */
  note: string
  /** The text of a memo. */
  memo: { html: string; text: string } | null
  cover: string | null
  published: number
  updated: number
  /** `yyyy-MM-dd`. */
  date: string
}

const STATUSES = { YET: 'To read', ING: 'Reading', DONE: 'Read' }
const MEMO_TYPES = { BOOK_CONTENT: 'Quote', SUMMARY: 'Summary', THOUGHT: 'Thought', QUESTION: 'Question' }

const toRating = (rating: number | null) => (rating === null ? undefined : `★ ${rating} of 5`)
const join = (...parts: (string | undefined | false)[]) => parts.filter(Boolean).join(' · ')

const toParts = (item: Item, zone: Zone) => {
  if ('memoId' in item) {
    const [published, updated] = [Date.parse(item.createdAt), Date.parse(item.updatedAt)]
    const date = zone.toDate(published)
    const note = join(MEMO_TYPES[item.memoType], item.memoBookPage > 0 && `page ${item.memoBookPage}`, date)
    return { id: `memo/${item.memoId}`, note, text: item.memoContent, cover: null, published, updated, date }
  }
  if ('readingId' in item) {
    const published = Date.parse(item.finishedAt)
    const note = join(`Finished ${item.finishedAt}`, toRating(item.rating))
    const date = item.finishedAt
    return { id: `reading/${item.readingId}`, note, text: null, cover: null, published, updated: published, date }
  }
  const { bookId, bookStatus, outcome, rating, cover, startedAt, finishedAt } = item
  const isDone = bookStatus === 'DONE' && finishedAt !== null
  const published = Date.parse(isDone ? finishedAt : item.createdAt)
  const dates = isDone ? `finished ${finishedAt}` : bookStatus === 'ING' && startedAt ? `since ${startedAt}` : undefined
  const note = join(outcome === 'STOPPED' ? 'Stopped' : STATUSES[bookStatus], dates, toRating(rating))
  const date = isDone ? finishedAt : zone.toDate(published)
  return { id: `book/${bookId}`, note, text: null, cover, published, updated: published, date }
}

/** A tag URI of the service at a host. RFC 4151 requires a date, which must never change. */
export const toId = (host: string, { linkId }: About, rest = '') => `tag:${host},2026:${linkId}${rest && `/${rest}`}`

/**
 * The entries of what a link shows.
 * @param images what the addresses of the member's images begin with
 */
export const toEntries = async ({ item: items, zone, ...about }: LinkView, host: string, images: string) => {
  const write = createMemoWriter(images)
  const entries: FeedEntry[] = []
  for (const item of items) {
    const { id, text, ...parts } = toParts(item, zone)
    const author = item.author && toPlain(item.author)
    const memo = text === null ? null : await write(text)
    entries.push({ ...parts, id: toId(host, about, id), title: toPlain(item.title), author, memo })
  }
  return entries
}

/** Milliseconds of the latest change of the entries; if there are none, of the link. */
export const latestOf = ({ createdAt }: About, entries: FeedEntry[]) =>
  entries.length > 0 ? Math.max(...entries.map(({ updated }) => updated)) : createdAt
