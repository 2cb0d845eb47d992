import { MAX_INT } from '../../../values/contract'
import { isObject, toCell } from '../json'
import { type Row, shelve } from '../row'
import { findStatus } from '../status'
import { tableFormat } from '../table'
import { parseInteger, parseTime } from '../values'

const parseNotes = (text: string): unknown[] => {
  try {
    const notes: unknown = JSON.parse(text)
    return Array.isArray(notes) ? notes : [notes]
  } catch {
    return [text]
  }
}

const MAX_NOTES = 1000
/** Adds the notes of a JSON list. A note with a page is a quotation. */
const addNotes = (row: Row, column: string) => {
  const text = row.get(column)
  const notes = text ? parseNotes(text) : []
  if (notes.length > MAX_NOTES) row.lose('too-many', column)
  for (const note of notes.slice(0, MAX_NOTES)) {
    const values = isObject(note) ? note : { content: note }
    const page = parseInteger(toCell(values.quote_page ?? values.page), MAX_INT)
    const content = toCell(values.content ?? values.text ?? values.note)
    const memo = row.memo(content, column, parseTime(toCell(values.created_on)) ?? null)
    if (!memo) row.lose('not-supported', column)
    else if (page && page > 0) Object.assign(memo, { page, type: 'BOOK_CONTENT' })
    if (memo && values.visibility === 'public') memo.isPublic = true
  }
}

export const booklogr = tableFormat({
  name: 'booklogr',
  matches: (has) => has('title') && has('reading_status'),
  columns: 'title,isbn,reading_status,current_page,total_pages,author,rating,notes',
  unsupported: 'description',
  read: (row, options) => {
    const { entry, get } = row
    entry.title = row.text('title')
    row.authors([get('author')], 'author')
    row.isbn('isbn')
    entry.pages = row.pages('total_pages')
    entry.currentPage = row.integer('current_page')
    row.rate('rating')
    shelve(row, get('reading_status'), 'reading_status', options, findStatus, 'unknown-status')
    addNotes(row, 'notes')
  },
})
