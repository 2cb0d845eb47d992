// The random requests of a client.
import { Book } from './book.mjs'
import { dateOf } from './book-row.mjs'

/** mulberry32 */
export const createRandom = (seed) => {
  let state = seed
  const random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  return {
    random,
    pick: (list) => list[Math.floor(random() * list.length)],
    maybe: (value) => (random() < 0.5 ? value : undefined),
  }
}

const DAYS = ['2020-01-01', '2021-05-05', '2022-09-09', '2023-03-03']
const DATES = [null, ...DAYS, '2021', '2022-09']
const STATUSES = ['YET', 'ING', 'DONE']

const withoutUndefined = (values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** The random steps of a client, given what its library has. */
export const createSteps = ({ random, pick, maybe }) => {
  const reading = (outcomes = [null, 'FINISHED', 'FINISHED', 'STOPPED']) => {
    const outcome = pick(outcomes)
    const [startedAt, finishedAt] = [pick(DATES), outcome && pick(DATES)]
    const quarters = pick([null, 4, 13, 18, 20])
    return {
      startedAt,
      finishedAt,
      outcome,
      quarters,
      note: pick([null, null, 'n']),
      isPaused: outcome ? false : random() < 0.3,
    }
  }
  const ended = () => reading(['FINISHED', 'FINISHED', 'STOPPED'])
  const patch = () => {
    const dates = { readStartDate: maybe(pick([null, ...DAYS])), readEndDate: maybe(pick([null, ...DAYS])) }
    for (const name of Object.keys(dates)) if (dates[name]) dates[name] += 'T08:30:00'
    return withoutUndefined({ bookStatus: maybe(pick(STATUSES)), ...dates, star: maybe(pick([0, 1, 3, 4, 5])) })
  }
  /** What a client sends of a reading. How it ended is sent as a whole. */
  const some = ({ startedAt, quarters, note, ...end }) => {
    const others = withoutUndefined({ startedAt: maybe(startedAt), quarters: maybe(quarters), note: maybe(note) })
    return random() < 0.5 || Object.keys(others).length === 0 ? { ...others, ...end } : others
  }
  const change = (model) => {
    const known = model.all()
    const kind = pick([
      'patchBook',
      'patchBook',
      'patchBook',
      'createReading',
      ...(known.length ? ['updateReading', 'deleteReading'] : []),
    ])
    if (kind === 'patchBook') return [kind, patch()]
    if (kind === 'createReading') return [kind, reading()]
    const { readingId, isCurrent } = pick(known)
    // Only the current reading can be open.
    return [kind, kind === 'deleteReading' ? { readingId } : { readingId, ...some(isCurrent ? reading() : ended()) }]
  }
  /** What an import plans for a book: as a reader of files compares the file with the library. */
  const item = (model) => {
    const current = model.current()
    const planned = { bookId: model.bookId, bookStatus: null, star: null, refined: null, ended: [], open: null }
    const kind = pick(['status', 'refined', 'readings', 'readings', 'nothing'])
    if (kind === 'status') {
      planned.bookStatus = pick(STATUSES)
      if (STATUSES.indexOf(planned.bookStatus) >= STATUSES.indexOf(model.book.bookStatus))
        planned.star = pick([null, 2])
    }
    // The file says more of the current reading, ends it, or begins the first one of an unread book.
    if (kind === 'refined') {
      const copy = Object.assign(new Book(model.bookId, { last: 0 }, {}), {
        book: { ...model.book },
        own: { ...model.own },
      })
      if (current) copy.updateCurrent(some(current.outcome ? ended() : reading()))
      else copy.describe(reading(), copy.book.star)
      const { readingId: _, importId, ...own } = copy.own
      planned.refined = { ...copy.book, ...own }
    }
    if (kind === 'readings' || kind === 'refined')
      for (let n = pick([0, 1, 1, 2]); n > 0; n--) planned.ended.push(ended())
    if (kind === 'readings') planned.open = pick([null, null, reading([null])])
    return planned
  }
  const newBook = (bookId) => {
    const isRead = random() < 0.7
    const past = Array.from({ length: isRead ? pick([0, 0, 1, 2]) : 0 }, ended).sort((a, b) =>
      dateOf(a) < dateOf(b) ? -1 : 1,
    )
    const model = new Book(bookId, { last: 0, finishes: [] }, {})
    if (isRead)
      model.describe(
        { ...reading(), ...(random() < 0.6 && { outcome: 'FINISHED', finishedAt: '2024-01-01', isPaused: false }) },
        0,
      )
    const { readingId: _, archivedId, archivedStart, archivedEnd, archivedStar, ...own } = model.own
    const isLast = model.book.bookStatus !== 'DONE' || past.every((each) => dateOf(each) <= dateOf(model.current()))
    return {
      bookId,
      new: { ...model.book, ...own },
      bookStatus: null,
      star: null,
      refined: null,
      ended: isLast ? past : [],
      open: null,
    }
  }
  return { change, item, newBook }
}
