// What holds after each step.
import assert from 'node:assert/strict'
import { dateOf } from './book-row.mjs'
import { LIMIT } from './statements/schema.mjs'

export const sorted = (readings) =>
  readings
    .map((each) => ({ ...each, isPaused: Boolean(each.isPaused), isCurrent: Boolean(each.isCurrent) }))
    .sort((a, b) => a.readingId - b.readingId)

/** Whether more is known of a reading than a book shows. */
const isMore = ({ note, startedAt }) => note || (startedAt && startedAt.length < 10)
const hasSame = (readings, reading, names) =>
  readings.some((each) => names.every((name) => each[name] === reading[name]))

/**
 * @param logged the identifiers of the readings that the feed lists
 * @param before the library before the step, by book, as the rules say
 * @param after the library that is stored
 * @param gone the identifiers that have left the library: those that leave it are added
 * @param returned the readings of what came back from the trash
 * @param undone what was known of the import that was undone
 */
export const checkStep = ({ seen, logged, kind, values, before, after, library, gone, returned, undone }) => {
  const models = [...library.books.values()]
  const all = Object.values(before).flatMap(({ readings }) => readings)
  const stored = [...after.values()].flatMap(({ readings }) => readings)
  // The statements do what the rules say.
  assert.deepEqual([...after.keys()].sort(), [...library.books.keys()].sort())
  for (const [id, model] of library.books) {
    const { book, readings } = after.get(id)
    assert.deepEqual(book, model.book)
    assert.deepEqual(sorted(readings), sorted(model.all()))
    assert.ok(model.past.length <= LIMIT, 'more readings than allowed')
    // 2. At most one reading is open, and it is the book's.
    assert.ok(
      readings.every(({ outcome, isCurrent }) => outcome || isCurrent),
      'a past reading is open',
    )
  }
  const isPast = ({ isCurrent }) => !isCurrent
  assert.equal(
    stored.filter(isPast).length,
    models.reduce((sum, { past }) => sum + past.length, 0),
  )

  // 1. The contract's fields are plain fields.
  const { bookId, ...patch } = values
  if (kind === 'patchBook') assert.deepEqual(after.get(bookId).book, { ...before[bookId].book, ...patch })

  // 3. Nothing is lost.
  const ids = new Set(stored.map(({ readingId }) => readingId))
  assert.equal(ids.size, stored.length, 'two readings have one identifier')
  const lost = all.filter(({ readingId }) => !ids.has(readingId))
  const hidden = new Set(models.flatMap(({ book, own }) => (book.bookStatus === 'YET' ? [own.readingId] : [])))
  const isHidden = ({ readingId }) => hidden.has(readingId)
  const added = undone.flatMap((row) => (row.isCreated ? (before[row.bookId]?.readings ?? []) : row.added))
  const mayLose = {
    patchBook: (each) => values.bookStatus && lost.length === 1 && (isHidden(each) || !isMore(each)),
    deleteReading: ({ readingId }) => readingId === values.readingId,
    deleteBook: (each) => hasSame(before[bookId].readings, each, ['readingId']),
    importChunk: isHidden,
    // As the import left it.
    undoImport: (each) => hasSame(added, each, ['readingId', 'startedAt', 'finishedAt', 'outcome', 'quarters', 'note']),
    // What the target has, too, or an open reading beside the target's.
    merge: (each) =>
      !isMore(each) ||
      hasSame(
        all.filter((other) => other !== each),
        each,
        ['startedAt', 'finishedAt'],
      ),
  }
  for (const each of lost) assert.ok(mayLose[kind]?.(each), `${kind} lost ${each.readingId}`)
  if (kind === 'deleteReading') assert.equal(lost.length, 1)

  // The feed lists what has changed. Readings that are deleted with their book are not listed.
  const valuesOf = (books) =>
    new Map(
      books.flatMap(([id, { readings }]) =>
        readings.map(({ isCurrent: _, ...each }) => [
          each.readingId,
          {
            id: Number(id),
            text: JSON.stringify([Number(id), ...Object.entries({ ...each, isPaused: Boolean(each.isPaused) }).sort()]),
          },
        ]),
      ),
    )
  const [was, is] = [valuesOf(Object.entries(before)), valuesOf([...after])]
  for (const id of new Set([...was.keys(), ...is.keys()])) {
    const isChanged = was.get(id)?.text !== is.get(id)?.text
    const isDeleted = !is.has(id) && !after.has(was.get(id).id)
    if (isChanged && !isDeleted) assert.ok(logged.has(id), `${kind}: the feed lacks ${id}`)
    if (!isChanged && logged.has(id)) seen[`listed unchanged: ${kind}`] = (seen[`listed unchanged: ${kind}`] ?? 0) + 1
  }
  // 4. An identifier means one reading for ever: one that has left the list comes back only from the trash.
  for (const { readingId } of returned) gone.delete(readingId)
  for (const id of ids) assert.ok(!gone.has(id), `${id} came back`)
  for (const each of lost) if (!isHidden(each)) gone.add(each.readingId)

  // 5. After a change of readings that can change their order, an ended current one is the latest.
  const isOrdered =
    ['createReading', 'merge'].includes(kind) ||
    (kind === 'updateReading' && ('startedAt' in values || 'outcome' in values))
  const changed = isOrdered ? [{ bookId, ended: [], refined: true }] : []
  for (const { bookId: id, ended, refined } of values.items ?? changed) {
    const model = library.books.get(id)
    const current = model?.current()
    if (current?.outcome && (ended.length > 0 || refined) && model.past.length < LIMIT)
      assert.ok(
        model.past.every((each) => dateOf(each) <= dateOf(current)),
        'a past reading is later',
      )
  }
}
