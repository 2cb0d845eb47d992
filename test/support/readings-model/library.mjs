// The rules of imports, their undo, merges and the trash, as plain JavaScript.
import { Book } from './book.mjs'
import { toText } from './book-row.mjs'
import { mergeBooks } from './merge.mjs'
import { LIMIT } from './statements/schema.mjs'

const RANK = { YET: 0, ING: 1, DONE: 2 }

export class Library {
  /** `finishes`: the books that this step finished, for their progress. */
  ids = { last: 1000, finishes: [] }
  books = new Map()
  undos = new Map()
  trash = new Map()
  constructor(seen) {
    this.seen = seen
  }
  add = (bookId) => this.books.set(bookId, new Book(bookId, this.ids, this.seen)).get(bookId)

  importChunk({ importId, items }) {
    const rows = []
    const list = items
      .map((item, at) => {
        const model = this.books.get(item.bookId) ?? (item.new ? this.add(item.bookId) : undefined)
        return { ...item, at, model, isLeaving: false }
      })
      .filter(({ model }) => model)
    for (const { model, new: created, at } of list) {
      if (created) {
        const { bookStatus, readStartDate, readEndDate, star, ...own } = created
        Object.assign(model, { book: { bookStatus, readStartDate, readEndDate, star }, own: { ...model.own, ...own } })
      } else rows.push({ at, bookId: model.bookId, ...model.before() })
    }
    const isAsPlanned = ({ model, planned }) => model.columns() === planned
    const isBack = ({ bookStatus, model }) => bookStatus && RANK[bookStatus] < RANK[model.book.bookStatus]
    const leaving = list.filter((item) => isBack(item) && isAsPlanned(item) && item.model.hasRoom())
    for (const { model, bookStatus } of leaving.toSorted((a, b) => a.bookId - b.bookId)) {
      model.keep()
      model.renew()
      model.book = { ...model.book, bookStatus }
      model.reach('imported: put back')
    }
    for (const item of list) {
      const { model, bookStatus, star, refined } = item
      if (item.new || !(bookStatus || star || refined)) continue
      if (!isAsPlanned(item)) {
        model.reach('imported: changed meanwhile')
        continue
      }
      if (refined) model.refine(refined)
      else
        model.book = { ...model.book, bookStatus: bookStatus ?? model.book.bookStatus, star: star ?? model.book.star }
      model.own = { ...model.own, importId }
      if (refined) model.reach('imported: refined')
    }
    for (const { model, ended } of list) {
      const room = Math.max(0, LIMIT - model.past.length)
      for (const { isPaused: _, ...reading } of ended.slice(0, room))
        model.past.push({ readingId: model.nextId(), ...reading })
    }
    const base = this.ids.last
    list.forEach(({ model, open, ended, refined, new: created, at }) => {
      const { bookStatus } = model.book
      if (open && bookStatus !== 'ING' && model.hasRoom()) {
        model.begin(open, base + at + 1)
        model.reach('imported: begun')
      } else if (model.isOvertaken() && (ended.length > 0 || refined)) {
        model.settle()
        model.reach('imported: settled')
      } else if (bookStatus === 'YET' && ended.length > 0 && !created) {
        model.promote()
        model.reach('imported: promoted')
      }
    })
    for (const row of rows) {
      const model = this.books.get(row.bookId)
      model.complete(row, ({ readingId }) => readingId > row.last || (row.status === 'YET' && readingId === row.id))
    }
    const created = list
      .filter((item) => item.new)
      .map(({ model, bookId }) => ({ bookId, columns: model.columns(), state: model.state(), isCreated: true }))
    this.undos.set(importId, [...rows, ...created])
  }

  undoImport({ importId }) {
    const rows = this.undos.get(importId)
    for (const row of rows.filter(({ isCreated }) => isCreated)) {
      const model = this.books.get(row.bookId)
      if (model && model.columns() === row.columns && model.state() === row.state) this.books.delete(row.bookId)
      else row.left = Boolean(model)
    }
    this.undoRows(rows.filter(({ isCreated, bookId }) => !isCreated && this.books.has(bookId)))
  }

  undoRows(rows) {
    const isSame = (one, other) => Boolean(one && other) && toText(one) === toText(other)
    const list = rows
      .map((row) => ({ row, model: this.books.get(row.bookId) }))
      .sort((a, b) => a.row.bookId - b.row.bookId)
    for (const { row, model } of list) {
      const { past, own, book } = model
      row.removed = past.filter((each) => row.added.some((added) => isSame(added, each)))
      const isNewestShown = book.bookStatus !== 'YET' && row.newest?.readingId === own.readingId
      const hasEarlier =
        row.status === 'YET'
          ? past.length - row.removed.length + Number(isNewestShown) <= row.past
          : row.id === own.readingId || (row.kept && past.some((each) => isSame(each, row.kept)))
      row.mark =
        model.columns() === row.after && hasEarlier
          ? 'exact'
          : row.added.some((added) => isSame(added, model.current()))
            ? 'drop'
            : 'keep'
      row.wasShown = book.bookStatus !== 'YET'
      model.reach(`undone: ${row.mark}`)
    }
    const idsOf = ({ added }) => added.map(({ readingId }) => readingId)
    const base = this.ids.last
    list
      .filter(({ row }) => row.mark === 'exact')
      .forEach(({ row, model }, at) => {
        model.past = model.past.filter((each) => !row.removed.includes(each))
        const { readingId } = model.own
        if (row.wasShown && row.newest?.readingId === readingId && readingId !== row.id) {
          model.past.push(row.newest)
          model.reach('undone: past again')
        }
        const isFresh = row.status === 'YET' && idsOf(row).includes(row.id)
        if (isFresh) this.ids.last = Math.max(this.ids.last, base + at + 1)
        model.book = row.book
        model.own = { ...row.own, readingId: isFresh ? base + at + 1 : row.id }
        model.past = model.past.filter((each) => each.readingId !== model.own.readingId)
      })
    for (const { row, model } of list)
      if (row.mark !== 'exact') model.past = model.past.filter((each) => !row.removed.includes(each))
    for (const { row, model } of list)
      if (row.mark === 'keep' || (row.mark === 'exact' && model.past.length > row.past)) model.settle()
    const dropped = list
      .filter(({ row }) => row.mark === 'drop')
      .map((each) => ({ ...each, isPromoted: each.model.promote() }))
    const last = this.ids.last
    dropped.forEach(({ model, isPromoted }, at) => {
      if (!isPromoted) model.unread(last + at + 1)
    })
    for (const { row, model } of list) {
      model.forget()
      const isLeft = model.all().some(({ readingId }) => idsOf(row).includes(readingId))
      row.left = isLeft || (row.mark === 'keep' && row.columns !== row.after && !idsOf(row).includes(row.afterId))
      if (row.left) model.reach('undone: left')
    }
  }

  deleteBook({ bookId, trashId }) {
    this.trash.set(trashId, { model: this.books.get(bookId) })
    this.books.delete(bookId)
  }
  merge({ bookId, fromId, trashId }) {
    const [target, source] = [this.books.get(bookId), this.books.get(fromId)]
    const row = { bookId, ...target.before() }
    const all = source.all()
    const saved = Object.assign(new Book(fromId, this.ids, this.seen), {
      book: source.book,
      own: source.own,
      past: [...source.past],
    })
    mergeBooks(target, source)
    this.books.delete(fromId)
    target.complete(row, ({ readingId }) => all.some((each) => each.readingId === readingId))
    this.trash.set(trashId, { model: saved, all, row })
  }
  restoreTrash({ trashId }) {
    const { model, all, row } = this.trash.get(trashId)
    this.trash.delete(trashId)
    if (row) {
      const target = this.books.get(row.bookId)
      const now = target?.all() ?? []
      const isBack = ({ readingId }) => {
        const added = row.added.find((each) => each.readingId === readingId)
        return !added || now.some((each) => toText(each) === toText(added))
      }
      if (target) this.undoRows([row])
      model.past = model.past.filter(isBack)
      const isCurrentGone = all.some((each) => each.isCurrent && !isBack(each))
      if (isCurrentGone) model.reach('unmerged: current stays')
      if (isCurrentGone && !model.promote()) model.unread()
      model.forget()
      model.reach(row.left ? 'unmerged: left' : 'unmerged')
    }
    this.books.set(model.bookId, model)
  }
}
