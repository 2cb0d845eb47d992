// How an offline client shows objects: in one shape, whether they were pulled or are still to be sent. See offline-client.md.

export type Kind = 'book' | 'memo' | 'reading' | 'tag'
/** A string until the service has created it: the key of the write that creates it. */
export type Id = number | string
/** Of a memo. A string while it is that of a write without an answer: the key of the write. */
export type Version = number | string | null | undefined
export type Value = Record<string, unknown>
export type Shown = { kind: Kind; id: Id; version?: Version; value: Value }
/** Of a book. Without one, the write is about the object itself. */
/** A page, or a second of an audiobook; or neither, if only the minutes of a sitting are known. */
export type Reached = { page?: number; seconds?: number; minutes?: number }

export type Part = '' | '/edition' | '/tags' | '/progress'
export type Write = {
  seq: number
  /** Sent as Idempotency-Key. */
  key: string
  method: 'POST' | 'PATCH' | 'DELETE'
  kind: Kind | 'image'
  id: Id
  part: Part
  bookId?: Id
  body?: Value
  /** When the user made it. */
  madeAt: number
  /** The version that the user saw. */
  base?: Version
  firstSent?: number
  /** Set once it took effect. `isOther`: the answer has what another device has written since. */
  done?: { value?: Value; version?: Version; isOther?: boolean }
  /** Of the deletion of a book: the cursor of a pull that brought nothing unknown of it. Until then, it is not sent. */
  since?: string
  /** The cursor with which it was refused. */
  refused?: string
  /** What the user saw of the book: as shown, and as it was pulled. */
  seen?: Value[]
  /** The writes to the book that had not been sent. They are kept if the deletion is. */
  dropped?: Write[]
}

export const isCreation = ({ method, part }: Pick<Write, 'method' | 'part'>) => method === 'POST' && !part
export const isBookDeletion = ({ method, kind }: Pick<Write, 'method' | 'kind'>) =>
  method === 'DELETE' && kind === 'book'

/** What the service stores if a creation does not say otherwise. */
const DEFAULTS: Record<Kind, Value> = {
  book: {
    title: '',
    cover: null,
    author: null,
    publisher: null,
    star: 0,
    currentPage: 0,
    itemPage: null,
    bookStatus: 'YET',
    readStartDate: null,
    readEndDate: null,
    edition: {
      subtitle: null,
      isbn: null,
      language: null,
      format: null,
      publishedYear: null,
      series: null,
      seriesNumber: null,
      seconds: null,
      sourceIds: [],
    },
    tags: [],
    progress: { count: 0, latestAt: null, seconds: null, percent: null, deviceMinutes: 0 },
  },
  memo: { memoType: 'BOOK_CONTENT', memoBookPage: 0, memoAuthority: 'PRIVATE', memoLikesCount: 0 },
  reading: { startedAt: null, finishedAt: null, outcome: null, rating: null, format: null, note: null, paused: false },
  tag: {},
}

const LATIN_AND_GREEK_MARKS = /(?<=[\p{sc=Latin}\p{sc=Greek}])[\u0300-\u036f]+/gu
/** The service compares tags nearly so. */
const fold = (tag: string) =>
  tag.trim().normalize('NFD').replace(LATIN_AND_GREEK_MARKS, '').normalize('NFC').toUpperCase().toLowerCase()
export const without = (tags: string[], others: string[]) => {
  const folded = new Set(others.map(fold))
  return tags.filter((tag) => !folded.has(fold(tag)))
}
const sorted = (tags: string[]) => tags.toSorted((one, other) => (fold(one) < fold(other) ? -1 : 1))
const asTexts = (list: unknown) => (list ?? []) as string[]

type Names = Map<unknown, unknown>
export const tagIdsOf = (object: Shown | undefined) => (object?.value.tagIds ?? []) as number[]

/** An object of the copy, as it is shown: a book with the names of its tags. */
export const toShown = (object: Shown, names: Names): Shown => {
  if (object.kind !== 'book') return object
  const { tagIds: _, ...value } = object.value
  const tags = tagIdsOf(object).flatMap((tagId) => (names.get(tagId) ?? []) as string | [])
  return { ...object, value: { ...value, tags: sorted(tags) } }
}

/** What a body, or the answer to it, changes in the value of an object. */
const changesOf = ({ kind, part }: Write, body: Value, value: Value): Value => {
  const edition = value.edition as Value
  if (part === '/progress') {
    const before = value.progress as { count: number; seconds: number | null; deviceMinutes: number }
    const { page, seconds = page === undefined ? before.seconds : null, minutes = 0 } = body as Reached
    const [pages, length] = [Number(value.itemPage), Number(edition.seconds)]
    const isOfSeconds = seconds !== null && length > 0
    const pageOfSecond =
      isOfSeconds && 'seconds' in body && pages > 0 ? Math.round((pages * seconds) / length) : undefined
    const currentPage = page ?? pageOfSecond ?? Number(value.currentPage)
    const [reached, all] = isOfSeconds ? [seconds, length] : [currentPage, pages]
    const progress = {
      ...before,
      ...{ count: before.count + 1, latestAt: String(body.at).replace(/\.\d+/, ''), seconds },
      percent: all > 0 ? Math.min(100, Math.round((1000 * reached) / all) / 10) : null,
    }
    const isBegun = value.bookStatus === 'YET' && [page, body.seconds, minutes].some((sent) => Number(sent) > 0)
    return { currentPage, progress, ...(isBegun && { bookStatus: 'ING' }) }
  }
  if (part === '/tags') {
    const added = asTexts(body.add)
    const kept = without(without(asTexts(value.tags), asTexts(body.remove)), added)
    return { tags: sorted(body.tags ? asTexts(body.tags) : [...kept, ...added]) }
  }
  if (part === '/edition') {
    const { title = value.title, cover = value.cover, bookId: _, ...changed } = body
    return { title, cover, edition: { ...edition, ...changed } }
  }
  if (kind !== 'book') return body
  const { isbn = edition.isbn, ...changed } = body
  return { ...changed, edition: { ...edition, isbn } }
}

/** Lays a write over an object. */
export const lay = (shown: Shown | undefined, write: Write): Shown => {
  const { kind, id, key, bookId, body = {}, done, madeAt } = write as Write & { kind: Kind }
  const time = new Date(madeAt).toISOString().slice(0, 19)
  const times = { createdAt: time, ...(kind === 'memo' && { updatedAt: time }) }
  const before = shown?.value ?? { ...DEFAULTS[kind], ...(kind !== 'reading' && times) }
  const sent = { ...before, ...changesOf(write, body, before) }
  const answered = done?.value ? { ...sent, ...changesOf(write, done.value, sent) } : sent
  const ids = isCreation(write) && { ...(bookId !== undefined && { bookId }), [`${kind}Id`]: id }
  return { kind, id, value: { ...answered, ...ids }, version: kind === 'memo' ? (done?.version ?? key) : undefined }
}

/** What other fields of a book and its readings the service derives from some writes. */
const DERIVED = ['star', 'currentPage', 'bookStatus', 'readStartDate', 'readEndDate', 'count', 'latestAt', 'reached']
const DERIVED_OF_READING = ['startedAt', 'finishedAt', 'outcome', 'rating', 'paused']
/** Without the percentage, which follows from other fields. */
const flatten = ({ edition, progress, ...fields }: Value = {}): Value => {
  if (!progress) return fields
  const { percent: _, seconds: reached, ...summary } = progress as Value
  return { ...fields, ...(edition as object), ...summary, reached }
}

const withoutAnswer = ({ done: _, ...write }: Write): Write => write

/**
 * Whether a pulled object is as the user saw it, or as the device's own writes have made it.
 * @param seen what the user saw of a book, when deleting it
 * @param own the writes of the device to the object. Their answers also show what others have written: only the fields
 * that were sent count
 * @param derives whether an answered write to its book may have changed derived fields
 */
export const isKnown = (pulled: Shown, copied: Shown | undefined, seen: Value[], own: Write[], derives: boolean) => {
  const mine = own.filter(({ done }) => done && !done.isOther)
  if (pulled.kind === 'memo') {
    const isSame = copied?.value.bookId === pulled.value.bookId && copied?.version === pulled.version
    return isSame || mine.some(({ done }) => done?.version === pulled.version)
  }
  const isBook = pulled.kind === 'book'
  const written = mine.map(withoutAnswer).reduce<Shown | undefined>(lay, copied)?.value
  const begun = derives && !copied ? DEFAULTS.reading : undefined
  const values = isBook ? seen : [copied?.value, written, begun].flatMap((value): Value[] => (value ? [value] : []))
  const vague = new Set([
    ...(derives ? [...DERIVED, ...DERIVED_OF_READING] : []),
    ...(begun || isBook ? ['readingId', 'bookId'] : []),
    // The answers to creations do not show these.
    ...(mine.some(isCreation) ? ['createdAt'] : []),
    ...mine
      .filter(isCreation)
      .flatMap(({ body = {}, done }) => Object.keys(body).filter((name) => !(name in (done?.value ?? {})))),
  ])
  const isSame = (name: string, one: unknown, other: unknown) =>
    name === 'tags'
      ? without(asTexts(one), asTexts(other)).length + without(asTexts(other), asTexts(one)).length === 0
      : JSON.stringify(one) === JSON.stringify(other)
  return Object.entries(flatten(pulled.value)).every(
    ([name, value]) =>
      vague.has(name) ||
      values.some((each) => isSame(name, value, flatten(each)[name])) ||
      mine.some(({ body = {}, done }) => name in body && isSame(name, value, done?.value?.[name])),
  )
}
