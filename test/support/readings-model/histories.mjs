// Random histories of a few books: the statements in SQLite and the plain rules, compared after each step.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { Book } from './book.mjs'
import { checkStep, sorted } from './invariants.mjs'
import { Library } from './library.mjs'
import { LIMIT } from './statements/schema.mjs'
import { createStatements } from './statements/statements.mjs'
import { createRandom, createSteps } from './steps.mjs'

const STEPS = 18
const MEMBER = 7

const toNumber = (value) => (typeof value === 'boolean' ? Number(value) : value)
/**
 * @param broken whether a part of the design is left out
 * @param inspect called with each statement that runs
 * @returns how many steps ran, and how often they reached what is worth reaching
 */
export const runHistories = ({ histories, seed, broken = () => false, inspect }) => {
  const tools = createRandom(seed)
  const { random, pick } = tools
  const { change, item, newBook } = createSteps(tools)
  const { schema, requests, columns } = createStatements(broken)
  const seen = {}
  let steps = 0

  const database = new DatabaseSync(':memory:')
  database.exec(schema)
  const prepared = new Map()
  const prepare = (statement) => {
    if (!prepared.has(statement)) {
      const parameters = new Set(statement.match(/:\w+/g)?.map((name) => name.slice(1)))
      prepared.set(statement, Object.assign(database.prepare(statement), { parameters }))
    }
    return prepared.get(statement)
  }

  const runHistory = (trace) => {
    for (const table of ['books', 'readings', 'undos', 'trash', 'retiredIds', 'changes', 'finishes'])
      database.exec(`delete from ${table}`)
    const library = new Library(seen)
    let lastBook = 0
    const addBook = () => {
      lastBook += 1
      library.add(lastBook)
      prepare('insert into books (bookId, memberId) values (?, ?)').run(lastBook, MEMBER)
    }
    for (let n = 0; n < 3; n++) addBook()
    let lastImport = 0
    /** The identifiers that have left the library. */
    const gone = new Set()
    /** Planned earlier: the book may have changed since. */
    const stale = new Map()
    /** The undo of the step before, and the library before that step. */
    let reversible

    /** The books and readings that are stored. */
    const readLibrary = () => {
      const books = prepare('select bookId, bookStatus, readStartDate, readEndDate, star from books').all()
      const stored = new Map(books.map(({ bookId, ...book }) => [bookId, { book, readings: [] }]))
      const readings = prepare(
        'select bookId, readingId, startedAt, finishedAt, outcome, quarters, note, isPaused, isCurrent from allReadings',
      )
      for (const { bookId, ...reading } of readings.all()) stored.get(bookId).readings.push(reading)
      return stored
    }
    /** The book as it is when a row is planned, to see whether it has changed when the row is written. */
    const readPlanned = (model) => ({
      expected: JSON.parse(prepare(`select ${columns} as now from books where bookId = ?`).get(model.bookId).now),
      planned: model.columns(),
    })
    const snapshot = () =>
      Object.fromEntries(
        [...library.books]
          .sort(([a], [b]) => a - b)
          .map(([id, model]) => [id, { book: { ...model.book }, readings: sorted(model.all()) }]),
      )
    const run = (kind, { items, ...values }, others) => {
      const json = items && JSON.stringify(items.map(({ planned: _, ...each }) => each))
      const ran = []
      for (const statement of requests[kind](others)) {
        const { parameters } = prepare(statement)
        const bound = Object.fromEntries(
          Object.entries({ memberId: MEMBER, ...values, items: json })
            .filter(([name]) => parameters.has(name))
            .map(([name, value]) => [name, toNumber(value)]),
        )
        ran.push([statement, bound])
        try {
          prepare(statement).run(bound)
        } catch (error) {
          throw new Error(`${error.message} in ${statement}`)
        }
      }
      inspect?.(database, kind, ran)
    }

    const planItem = (model) => ({ ...item(model), ...readPlanned(model) })
    const chooseStep = () => {
      if (reversible && random() < 0.4) return reversible.step
      const books = [...library.books.values()]
      const dice = random()
      if (dice < 0.06 && books.length > 1) {
        const target = pick(books)
        const source = pick(books.filter((each) => each !== target))
        const importId = ++lastImport
        if (target.all().length + source.all().length <= LIMIT)
          return ['merge', { bookId: target.bookId, fromId: source.bookId, trashId: importId, importId }]
      }
      if (dice < 0.18) {
        const items = books
          .filter(() => random() < 0.6)
          .map((model) => (random() < 0.2 && stale.get(model.bookId)) || planItem(model))
        if (random() < 0.3) items.push(newBook(++lastBook))
        if (items.length) return ['importChunk', { importId: ++lastImport, items }]
      }
      if (dice < 0.24 && library.undos.size) return ['undoImport', { importId: pick([...library.undos.keys()]) }]
      if (dice < 0.27 && books.length > 1) return ['deleteBook', { bookId: pick(books).bookId, trashId: ++lastImport }]
      if (dice < 0.33 && library.trash.size) return restoreOf(pick([...library.trash.keys()]))
      const model = pick(books)
      const [kind, values] = change(model)
      return [kind, { bookId: model.bookId, ...values }]
    }
    const restoreOf = (trashId) => {
      const { model, row } = library.trash.get(trashId)
      return ['restoreTrash', { trashId, importId: trashId, bookId: model.bookId, isMerge: row !== undefined }]
    }

    for (let n = 0; n < STEPS; n++) {
      const before = snapshot()
      const isUndo = reversible
      const [kind, values] = chooseStep()
      trace.push([kind, values])
      const { bookId, ...others } = values
      if (random() < 0.3) for (const [id, model] of library.books) stale.set(id, planItem(model))
      const trashed = library.trash.get(values.trashId)
      const returned = kind === 'restoreTrash' ? (trashed.all ?? trashed.model.all()) : []
      const undone = kind === 'undoImport' ? library.undos.get(values.importId) : []

      library.ids.finishes = []
      if (kind in Book.prototype) library.books.get(bookId)[kind](others)
      else library[kind](values)
      database.exec('delete from changes; delete from finishes')
      run(kind, values, others)
      if (kind === 'undoImport') {
        const left = prepare(`select bookId from undos where importId = ? and undo ->> 'left' = 1`).all(values.importId)
        const expected = undone.filter((row) => row.left).map((row) => row.bookId)
        assert.deepEqual(left.map((row) => row.bookId).sort(), expected.sort(), 'what is left')
        library.undos.delete(values.importId)
        prepare('delete from undos where importId = ?').run(values.importId)
      }
      while (library.books.size < 2) {
        addBook()
        before[lastBook] = { book: { ...library.books.get(lastBook).book }, readings: [] }
      }

      const logged = new Set(
        prepare('select readingId from changes')
          .all()
          .map((row) => row.readingId),
      )
      const finished = prepare('select bookId from finishes')
        .all()
        .map((row) => row.bookId)
      assert.deepEqual(finished, library.ids.finishes, 'finishes')
      seen.finished = (seen.finished ?? 0) + finished.length
      checkStep({ seen, logged, kind, values, before, after: readLibrary(), library, gone, returned, undone })
      // 6. An undo, at once, leaves no trace, but for the identifier of a book's next reading.
      if (isUndo && isUndo.step[0] === kind && isUndo.step[1] === values) {
        assert.deepEqual(snapshot(), isUndo.before, `the undo of ${isUndo.kind}`)
        seen[`undone at once: ${isUndo.kind}`] = (seen[`undone at once: ${isUndo.kind}`] ?? 0) + 1
      }
      const undo = {
        importChunk: () => ['undoImport', { importId: values.importId }],
        deleteBook: () => restoreOf(values.trashId),
        merge: () => restoreOf(values.trashId),
      }[kind]
      reversible = undo && { kind, before, step: undo() }
      seen[kind] = (seen[kind] ?? 0) + 1
      steps += 1
    }
  }

  for (let n = 0; n < histories; n++) {
    const trace = []
    try {
      runHistory(trace)
    } catch (error) {
      error.message = `history ${n}: ${error.message}\n${trace.map((each) => JSON.stringify(each)).join('\n')}`
      throw error
    }
  }
  return { steps, seen }
}
