import { decodeEntities } from '../../../../values/text/html'
import type { ImportOptions } from '../../../entries/entry'
import { parseTable, type TableRow } from '../../csv-rows'
import { refuse } from '../../limits'
import { addAuthors, addHighlight, title } from '../../rows/columns'
import { createRow, type Row } from '../../rows/row'
import { type Format, finish } from '../../rows/table'
import { toKey } from '../../rows/values'
import { type Clipping, findRepeated } from './clippings/merge-clippings'
import { parseMetadata } from './clippings/metadata'

// The files are not valid HTML: a heading ends with the tag of a `div`, and a text with that of a heading.
const ELEMENT = /<(?:div|h\d) class=["'](\w{1,20})["']>/
const END = /<\/(?:div|h\d)>/
const TITLE = /<(?:div|h\d) class=["']bookTitle["']>/

/** The element stands below the styles, which are about 3,000 characters. */
export const isNotebook = (text: string) => TITLE.test(text.slice(0, 20_000))

const stripTags = (html: string) => decodeEntities(html.replace(/<\/?[a-z][^<>]{0,200}>/gi, '')).trim()

const MAX_NOTES = 100_000

type Note = Clipping & { notes: string[] }

/** `Highlight (yellow) - Chapter > Page 12 · Location 180`, in any language. Only highlights have a colour. */
const startNote = (html: string): Note => {
  const heading = stripTags(html).replace(/\s+/g, ' ')
  const parts = heading.split(/ - | > /)
  const metadata = parseMetadata(`-${parts[0]}|${parts.at(-1)}|`)
  const isNote = !/class=["']highlight_/.test(html) && metadata.kind !== 'highlight'
  return { ...metadata, isNote, text: '', field: heading, notes: [] }
}

/** Characters of a location, at least: it is about 130 bytes of the book, with its markup. */
const LOCATION_LENGTH = 40

/** A note on a highlight follows it, at the location where it ends. */
const belongsTo = (note: Note, { isNote, page, location, text }: Note) => {
  if (isNote || note.page !== page) return false
  const end = location && location.start + text.length / LOCATION_LENGTH + 1
  return end === null || (note.location !== null && note.location.start <= end)
}

/** Adds notes to the highlights that they are on, and all as memos. */
const addNotes = (row: Row, notes: Note[]) => {
  const repeated = findRepeated(notes.filter(({ text }) => text))
  const kept: Note[] = []
  for (const note of notes) {
    const { kind, isNote, text, field } = note
    const previous = kept.at(-1)
    if (!isNote) row.lose('not-supported', 'color')
    if (!text) row.lose(isNote && kind !== 'note' ? 'bookmark' : 'empty-highlight', field)
    else if (repeated.has(note)) row.lose('repeated-text', field)
    else if (isNote && previous && belongsTo(note, previous)) previous.notes.push(text)
    else kept.push(note)
  }
  for (const { isNote, text, notes, page, field } of kept) {
    addHighlight(row, isNote ? ['', text] : [text, ...notes], { page, createdAt: null }, field)
  }
  return [finish(row)]
}

const readNotebook = (file: string, options: ImportOptions) => {
  const row = createRow(1, options)
  const notes: Note[] = []
  const parts = file.split(ELEMENT)
  for (let at = 1; at < parts.length; at += 2) {
    const html = parts[at + 1]?.split(END, 1)[0] ?? ''
    const last = notes.at(-1)
    if (parts[at] === 'bookTitle') title(row, stripTags(html), 'title')
    else if (parts[at] === 'authors') addAuthors(row, [stripTags(html)], 'authors')
    else if (parts[at] === 'noteHeading' && notes.length < MAX_NOTES) notes.push(startNote(html))
    else if (parts[at] === 'noteHeading') row.lose('too-many', 'noteHeading')
    else if (parts[at] === 'noteText' && last) last.text = stripTags(html)
    else if (parts[at] === 'noteText') row.lose('bad-row', 'noteText')
  }
  return addNotes(row, notes)
}

/** How the CSV that Kindle mails begins. The title and the authors are in the next rows, the notes are a table below. */
const TABLE = /^"?Your Kindle Notes For:/i

const readTable = (rows: TableRow[], options: ImportOptions) => {
  const row = createRow(1, options)
  const start = rows.findIndex(({ cells }) => toKey(cells[0] ?? '') === 'annotation type')
  if (start === -1) refuse('It is a notebook of Kindle, but cut off. Export it again.')
  title(row, rows[1]?.cells[0] ?? '', 'title')
  addAuthors(row, (rows[2]?.cells[0] ?? '').replace(/^by /i, '').split(/, | and /), 'authors')
  const notes = rows.slice(start + 1).map(({ cells: [heading = '', place = '', star = '', text = ''] }): Note => {
    const metadata = parseMetadata(`-${heading}|${place}|`)
    if (star) row.lose('not-supported', 'Starred?')
    const isNote = metadata.kind !== 'highlight'
    return { ...metadata, isNote, text: text.trim(), field: `${heading} ${place}`.trim(), notes: [] }
  })
  return addNotes(row, notes)
}

/** The notebook of a book, as Kindle's apps export it. It has no times. */
export const kindleNotebook: Format = {
  matches: ({ json, text }) => json === undefined && (isNotebook(text) || TABLE.test(text)),
  read: ({ text }, options) => (isNotebook(text) ? readNotebook(text, options) : readTable(parseTable(text), options)),
}
