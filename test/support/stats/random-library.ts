// Random libraries with what makes statistics wrong: partial dates, re-reads, jumps to the last page, hours that occur twice.

export const ZONES = [
  'Pacific/Pago_Pago',
  'America/New_York',
  'America/St_Johns',
  'America/Santiago',
  'UTC',
  'Europe/Berlin',
  'Asia/Beirut',
  'Asia/Kolkata',
  'Asia/Seoul',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
]
/** Around these times, clocks change or years begin, in UTC. */
export const TURNS = [
  ...[2024, 2025, 2026].map((year) => `${year}-01-01T00:00Z`),
  '2025-03-09T07:00Z',
  '2025-11-02T06:00Z',
  '2025-03-30T01:00Z',
  '2025-10-26T01:00Z',
  '2025-04-06T03:00Z',
  '2025-09-07T04:00Z',
  '2025-10-25T21:00Z',
  '2026-03-28T22:00Z',
].map((time) => Date.parse(time))
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** MINSTD, a seeded random number generator. */
export const createRandom = (seed: number) => {
  let state = (seed % 2_147_483_646) + 1
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const below = (limit: number) => Math.floor(next() * limit)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const some = <T>(most: number, make: () => T) => Array.from({ length: below(most + 1) }, make)
  return { below, pick, some }
}

type Random = ReturnType<typeof createRandom>
/** A time around turns of years and changes of clocks, or recently. */
export const randomTime = (below: Random['below'], pick: Random['pick'], now: number) => {
  const near = pick(TURNS) + (below(113) - 56) * 15 * 60_000 + pick([0, 0, -1000, 1])
  return Math.min(now, pick([near, near, now - below(6) * DAY - below(24) * HOUR, now - below(1000) * DAY]))
}

/**
 * An export of this service, to be imported.
 * @param now events are before it, in milliseconds since 1970
 */
export const randomLibrary = (seed: number, now: number) => {
  const { below, pick, some } = createRandom(seed)
  const time = () => randomTime(below, pick, now)
  const toText = (at: number) => new Date(at).toISOString().slice(0, 19)
  const date = () => {
    const full = toText(time()).slice(0, 10)
    return pick([null, full, full, full, full.slice(0, 7), full.slice(0, 4), '2024-02-29'])
  }
  const reading = (isLast: boolean) => {
    const outcome = isLast ? pick(['FINISHED', 'FINISHED', 'STOPPED', null]) : pick(['FINISHED', 'FINISHED', 'STOPPED'])
    return {
      startedAt: date(),
      finishedAt: outcome && date(),
      outcome,
      rating: pick([null, 0.25, 3, 4.25, 4.5, 5]),
      format: pick([null, 'PAPER', 'EBOOK', 'AUDIO']),
      note: null,
      paused: outcome === null && pick([true, false]),
      createdAt: null as string | null,
    }
  }
  const book = (_: unknown, at: number) => {
    const status = pick(['YET', 'ING', 'DONE', 'DONE', 'DONE'])
    const pages = pick([null, 0, 90, 90, 300, 541])
    const count = status === 'YET' ? 0 : pick([1, 1, 2, 3])
    const readings = Array.from({ length: count }, (_, nth) => ({
      ...reading(nth === count - 1),
      createdAt: nth === 0 ? null : new Date(now - DAY + nth).toISOString(),
    }))
    const last = readings.at(-1)
    if (last && status === 'ING') Object.assign(last, { outcome: null, finishedAt: null })
    if (last && status === 'DONE') Object.assign(last, { outcome: last.outcome ?? 'FINISHED', paused: false })
    const toTimestamp = (value: string | null | undefined) => (value?.length === 10 ? `${value}T21:30:00` : null)
    const progress = [...new Set(some(8, time))]
      .sort((one, other) => one - other)
      .map((at) => ({
        at: new Date(at).toISOString(),
        page: pick([0, 10, 45, 90, 120, 300]),
        kind: pick(['PROGRESS', 'PROGRESS', 'PROGRESS', 'CORRECTION', 'FINISHED', 'UNDATED']),
        minutes: pick([null, 1, 20, 1440]),
      }))
    return {
      bookId: at + 1,
      title: pick(['Demian', 'Emma', '소년이 온다', 'Zorba', '𝒜 Tale']),
      cover: at % 3 ? `https://covers.example.com/${at}.jpg` : null,
      author: pick([null, 'Han Kang', 'HAN KANG', 'Ana Ruiz', '한강', ...some(3, () => `Author ${below(15)}`)]),
      createdAt: toText(time()),
      itemPage: pages,
      currentPage: progress.at(-1)?.page ?? 0,
      bookStatus: status,
      star: Math.max(0, Math.floor((last?.rating ?? 0) + 0.5)),
      readStartDate: status === 'YET' ? null : toTimestamp(last?.startedAt),
      readEndDate: status === 'DONE' && last?.outcome === 'FINISHED' ? toTimestamp(last.finishedAt) : null,
      language: pick([null, 'ko', 'en', 'de']),
      format: pick([null, 'PAPER', 'EBOOK']),
      tags: [...new Set(some(3, () => pick(['novel', 'Zen', '소설', ...some(3, () => `tag ${below(15)}`)])))],
      readings,
      progress,
      memos: [...new Set(some(3, time))].map((at, nth) => ({
        memoType: pick(['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION']),
        memoContent: `Memo ${nth}`,
        memoBookPage: below(90),
        memoAuthority: 'PRIVATE',
        createdAt: toText(at),
        updatedAt: toText(at),
      })),
    }
  }
  return {
    format: 'reading-library',
    version: 1,
    member: { timeZone: pick([...ZONES, null]) },
    goals: [
      { year: 2025, metric: pick(['BOOKS', 'PAGES']), target: 1 + below(50) },
      { year: new Date(now).getUTCFullYear(), metric: pick(['BOOKS', 'PAGES']), target: 1 + below(1000) },
    ],
    books: Array.from({ length: below(14) }, book),
  }
}
