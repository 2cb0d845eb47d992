import { expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { signUp } from '../../support/api'
import { memberDatabase } from '../../support/database'
import { getBook } from '../../support/library'

type Reading = {
  readingId: number
  startedAt: string | null
  finishedAt: string | null
  outcome: string | null
  rating: number | null
  note: string | null
}
type Book = { bookStatus: string; readStartDate: string | null; readEndDate: string | null; star: number }

// MINSTD, a seeded random number generator: failures are reproducible.
const seeded = (seed: number) => {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

const TIMESTAMPS = [null, '2019-03-03T10:00:00', '2020-05-05T00:00:00', '2021-07-07T23:59:59', '2022-09-09T12:00:00']
const DATES = [null, '2018', '2019-03', '2019-03-03', '2020-05-05', '2021-07-07', '2023-01']

const dayOf = (timestamp: string | null) => timestamp?.slice(0, 10) ?? null

/**
 * Where a book and its newest reading disagree.
 * @param ends the end dates that readings of the book have had
 */
const problemsOf = (
  { bookStatus, readStartDate, readEndDate, star }: Book,
  newest: Reading,
  ends: Set<string | null>,
) => {
  const { startedAt, finishedAt, outcome, rating } = newest
  const checks: Record<string, boolean> = {
    status: (outcome === null) === (bookStatus === 'ING'),
    star: rating === null || star === Math.max(1, Math.round(rating)),
    start: bookStatus === 'YET' || startedAt?.length !== 10 || startedAt === dayOf(readStartDate),
    'end of a stopped reading': bookStatus !== 'DONE' || outcome !== 'STOPPED' || readEndDate === null,
    end:
      bookStatus !== 'DONE' || outcome === 'STOPPED' || finishedAt?.length !== 10 || finishedAt === dayOf(readEndDate),
    // It is left from an earlier reading.
    'unknown end': bookStatus !== 'DONE' || finishedAt !== null || readEndDate === null || ends.has(dayOf(readEndDate)),
  }
  return Object.keys(checks).filter((name) => !checks[name])
}

/** Changes a book and its readings at random, and checks after each change that nothing is lost, and that both agree. */
const play = async (seed: number, steps: number) => {
  const random = seeded(seed)
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const some = (fields: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(fields).filter(() => random() < 0.4))
  const bookPatch = () =>
    some({
      bookStatus: pick(['YET', 'ING', 'DONE']),
      readStartDate: pick(TIMESTAMPS),
      readEndDate: pick(TIMESTAMPS),
      star: pick([0, 1, 3, 4, 5]),
      currentPage: pick([0, 10, 20]),
    })
  const readingPatch = () =>
    some({
      startedAt: pick(DATES),
      finishedAt: pick(DATES),
      outcome: pick([null, 'FINISHED', 'STOPPED']),
      rating: pick([null, 0.25, 2.5, 3.75, 4]),
      note: pick([null, '메모', 'a note']),
      paused: pick([false, true]),
    })
  const reader = await signUp()
  const { bookId } = await reader.createBook({ title: 'A', ...bookPatch() })
  const readAll = async () => {
    const readings: Reading[] = (await reader.get(`/books/${bookId}/readings`)).body
    return { book: (await getBook(reader, bookId)) as Book, readings }
  }
  const history: string[] = []
  const ends = new Set<string | null>()
  let before = await readAll()

  const changeBook = async () => {
    const patch = bookPatch()
    const { status, body } = await reader.patch(`/books/${bookId}`, patch)
    history.push(`book ${JSON.stringify(patch)}`)
    const { bookStatus, readStartDate, readEndDate, star } = { ...before.book, ...patch }
    expect({ status, body }).toMatchObject({ status: 200, body: { bookStatus, readStartDate, readEndDate, star } })
    const after = await readAll()
    // No row describes it, so it is what the book is.
    if (before.readings.length === 1 && after.readings.length === 0) return
    const [newest, ...others] = before.readings
    for (const reading of others) expect(after.readings, history.join('\n')).toContainEqual(reading)
    if (!newest) return
    const kept = after.readings.find(({ readingId }) => readingId === newest.readingId)
    expect(kept, history.join('\n')).toMatchObject({ note: newest.note })
    const hasEnded = newest.finishedAt !== null && before.book.bookStatus !== bookStatus
    if (hasEnded) expect(kept, history.join('\n')).toMatchObject({ finishedAt: newest.finishedAt })
  }
  const addReading = async () => {
    const reading = readingPatch()
    const { status, body } = await reader.post(`/books/${bookId}/readings`, reading)
    history.push(`add ${JSON.stringify(reading)}: ${status}`)
    const { readings } = await readAll()
    expect(readings).toHaveLength(before.readings.length + Number(status === 201))
    if (status === 201) expect(readings).toContainEqual(body)
  }
  const changeReading = async ({ readingId }: Reading) => {
    const patch = readingPatch()
    const { status, body } = await reader.patch(`/readings/${readingId}`, patch)
    history.push(`change ${readingId} ${JSON.stringify(patch)}: ${status}`)
    const after = await readAll()
    if (status === 400) return expect(after).toEqual(before)
    const others = before.readings.filter((each) => each.readingId !== readingId)
    expect(after.readings, history.join('\n')).toEqual(expect.arrayContaining([body, ...others]))
  }
  const deleteReading = async ({ readingId }: Reading) => {
    history.push(`delete ${readingId}`)
    expect((await reader.delete(`/readings/${readingId}`)).status).toBe(204)
    const { readings } = await readAll()
    expect(readings).toHaveLength(before.readings.length - 1)
    const others = before.readings.filter((each) => each.readingId !== readingId)
    expect(readings, history.join('\n')).toEqual(expect.arrayContaining(others))
  }

  for (let step = 0; step < steps; step++) {
    const roll = random()
    const reading = pick(before.readings)
    if (roll < 0.55) await changeBook()
    else if (roll < 0.7) await addReading()
    else if (reading) await (roll < 0.92 ? changeReading(reading) : deleteReading(reading))
    before = await readAll()
    const { book, readings } = before
    history.push(`  ${JSON.stringify([book, readings])}`)
    for (const { finishedAt } of readings) ends.add(finishedAt)
    const [newest] = readings
    if (newest) expect(problemsOf(book, newest, ends), history.join('\n')).toEqual([])
    else expect(book.bookStatus).toBe('YET')
  }
}

it.each([1, 2, 3, 4])(
  'book and newest reading agree after any changes of both (seed %i)',
  { tags: ['slow'] },
  async (seed) => {
    await play(20_261_122 + seed, 60)
    expect(await findMismatches(memberDatabase())).toEqual([])
  },
)
