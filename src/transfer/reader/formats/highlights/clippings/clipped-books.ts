import { type Entry, emptyEntry } from '../../../../entry'
import { checkCount } from '../../../limit-entries'
import { type Block, readBlocks } from './blocks'
import { addLoss, addMemo, joinNotes } from './clipped-memos'
import { type Clipping, findHighlights, findReplaced } from './merge-clippings'
import { type Metadata, parseMetadata } from './metadata'
import { splitTitle } from './title'

// More would exceed the memory of a Worker. The files of long-time readers have a tenth of this.
const MAX_BLOCKS = 100_000

type Book = { entry: Entry; clippings: Clipping[] }

// `<You have reached the clipping limit for this item>`, in the language of the device. It replaces the text, or follows its
// beginning.
const LIMIT_MESSAGE = /<[^<>]{10,150}>$/
const LIMIT_WORD = /limi|límite|grenze|лимит|предел|限制|上限|제한|한도/i

/** Removes the message that the publisher's clipping limit was reached. */
const removeLimit = (text: string) => {
  const message = LIMIT_MESSAGE.exec(text.slice(-200))?.[0]
  return message && LIMIT_WORD.test(message) ? text.slice(0, -message.length).trim() : text
}

/** The position of a block, as the `field` of a loss. */
const toField = ({ location }: Metadata, line: number) => {
  if (!location) return `line ${line}`
  return `location ${location.start}${location.end > location.start ? `-${location.end}` : ''}`
}

const codeOfEmpty = ({ kind, page, location, createdAt }: Metadata) => {
  if (kind === 'highlight' || kind === 'note') return 'empty-highlight'
  return kind || page || location || createdAt ? 'bookmark' : 'bad-row'
}

/** In unknown languages, a clipping with a single location is a note: highlights have ranges. */
const isNote = ({ kind, location }: Metadata) => (kind ? kind !== 'highlight' : location?.isRange === false)

const addBlock = ({ entry, clippings }: Book, block: Block, line: string) => {
  const metadata = parseMetadata(line)
  const field = toField(metadata, block.line)
  if (!block.text) return addLoss(entry, codeOfEmpty(metadata), field)
  const text = removeLimit(block.text)
  if (text !== block.text) addLoss(entry, 'clipping-limit', field)
  if (!text) return
  if (!metadata.createdAt) addLoss(entry, 'bad-date', field)
  clippings.push({ ...metadata, text, field, isNote: isNote(metadata) })
}

const addMemos = ({ entry, clippings }: Book) => {
  const replaced = findReplaced(clippings)
  for (const { field } of replaced) addLoss(entry, 'replaced-highlight', field)
  const kept = clippings.filter((clipping) => !replaced.has(clipping))
  const highlights = findHighlights(kept)
  const notes = Map.groupBy(kept, (clipping) => highlights.get(clipping))
  for (const clipping of notes.get(undefined) ?? []) {
    const { text, page, createdAt, field } = clipping
    const content = joinNotes(text, ...(notes.get(clipping) ?? []).map((note) => note.text))
    addMemo(entry, { type: clipping.isNote ? 'THOUGHT' : 'BOOK_CONTENT', content, page, createdAt }, field)
  }
  return entry
}

const toEntry = (line: number, title: string | null): Entry =>
  title === null ? { ...emptyEntry(line), failure: 'no-title' } : { ...emptyEntry(line), ...splitTitle(title) }

/** Reads the books of a file of clippings. Blocks that belong to no book are losses of a failed entry. */
export const readClippings = (text: string): Entry[] => {
  const books = new Map<string | null, Book>()
  const unreadable: Entry[] = []
  let blocks = 0
  for (const block of readBlocks(text)) {
    const { line, title, metadata } = block
    if (++blocks > MAX_BLOCKS) {
      unreadable.push({
        ...emptyEntry(line),
        failure: 'too-many',
        losses: [{ code: 'too-many', field: `line ${line}` }],
      })
      break
    }
    if (metadata === null) {
      unreadable[0] ??= { ...emptyEntry(line), failure: 'bad-row' }
      addLoss(unreadable[0], 'bad-row', `line ${line}`)
      continue
    }
    const book = books.get(title) ?? { entry: toEntry(line, title), clippings: [] }
    books.set(title, book)
    checkCount(books.size)
    addBlock(book, block, metadata)
  }
  return [...books.values()].map(addMemos).concat(unreadable)
}
