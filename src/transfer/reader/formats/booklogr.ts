import * as read from '../rows/columns'
import { parseTime } from '../rows/dates'
import type { ReadCell } from '../rows/row'
import { tableFormat } from '../rows/table'
import { isObject, parseInteger, toCell } from '../rows/values'

const parseNotes = (text: string): unknown[] => {
  try {
    const notes: unknown = JSON.parse(text)
    return Array.isArray(notes) ? notes : [notes]
  } catch {
    return text ? [text] : []
  }
}

const MAX_NOTES = 1000
/** A JSON list of notes. A note with a page is a quotation. */
const notes: ReadCell = (row, cell, column) => {
  const notes = parseNotes(cell)
  if (notes.length > MAX_NOTES) row.lose('too-many', column)
  for (const note of notes.slice(0, MAX_NOTES)) {
    const values = isObject(note) ? note : { content: note }
    const page = parseInteger(toCell(values.quote_page ?? values.page).trim())
    const memo = {
      content: toCell(values.content ?? values.text ?? values.note),
      createdAt: parseTime(toCell(values.created_on)) ?? null,
      ...(page && { page, type: 'BOOK_CONTENT' as const }),
      ...(values.visibility === 'public' && { isPublic: true }),
    }
    if (!read.addMemo(row, memo, column)) row.lose('not-supported', column)
  }
}

export const booklogr = tableFormat((has) => has('reading_status') && has('total_pages'), {
  author: read.authors(),
  notes,
  description: read.unsupported,
})
