import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/transfer/entries/entry'
import { toFullTitle } from '../../../src/transfer/entries/names'
import { read } from '../../support/transfer/import-files'
import {
  type Expected,
  readBooks,
  readClippings,
  readHighlights,
  readNotebook,
  readSidecar,
} from '../../support/transfer/independent-reader'

// Rows of files that services wrote, with other names and texts: README.md beside the fixtures names the sources.
const FILES = Object.entries(
  import.meta.glob<string>('../../fixtures/imports/real/*', { query: '?raw', import: 'default', eager: true }),
).map(([path, text]) => [path.slice(path.lastIndexOf('/') + 1), text] as const)
const filesOf = (...services: string[]) =>
  FILES.filter(([name]) => services.some((service) => name.startsWith(service)))

const toFound = (entry: Entry): Expected => ({
  title: toFullTitle(entry),
  author: entry.author,
  isbn: entry.isbn,
  itemPage: entry.itemPage,
  publishedYear: entry.publishedYear,
  publisher: entry.publisher,
  addedAt: entry.addedAt,
  status: entry.status,
  quarters: entry.quarters,
  readings: entry.readings.map(({ startedAt, finishedAt }) => [startedAt, finishedAt]),
  tags: entry.tags,
  memos: entry.memos.map(({ content }) => content),
})

it('has at least twenty files', () => {
  expect(FILES.length).toBeGreaterThanOrEqual(20)
})

describe('books of a real file are read as a plain reader reads them', () => {
  it.each(filesOf('goodreads', 'storygraph', 'librarything', 'libby', 'douban'))('%s', (name, text) => {
    const { entries, unknownColumns } = read(text)
    expect(unknownColumns).toEqual([])
    expect(entries.map(({ failure }) => failure)).toEqual(entries.map(() => null))
    const sorted = (books: Expected[]) =>
      books
        .map((book) => ({ ...book, tags: [...new Set(book.tags)].sort() }))
        .sort((one, other) => `${one.title}${one.author}`.localeCompare(`${other.title}${other.author}`))
    expect(sorted(entries.map(toFound))).toEqual(sorted(readBooks(name, text)))
  })
})

describe('highlights of a real file are read as a plain reader reads them', () => {
  it.each(filesOf('readwise'))('%s', (_, text) => {
    const found = read(text).entries.flatMap(({ title, author, memos }) =>
      memos.map(({ content, page, createdAt }) => ({ title, author, content, page, createdAt })),
    )
    const byContent = (one: { content: string }, other: { content: string }) => (one.content < other.content ? -1 : 1)
    expect(found.sort(byContent)).toEqual(readHighlights(text).sort(byContent))
  })

  it.each(filesOf('notebook', 'koreader'))('%s', (name, text) => {
    const { title, author, notes } = name.endsWith('.lua') ? readSidecar(text) : readNotebook(text)
    expect(notes.length).toBeGreaterThan(0)
    expect(read(text).entries).toMatchObject([
      { title, author, failure: null, memos: notes.map((note) => ({ ...note, type: 'BOOK_CONTENT' })) },
    ])
  })

  it.each(filesOf('kindle'))('%s', (_, text) => {
    const { entries } = read(text)
    const lost = entries.flatMap(({ losses }) => losses)
    const memos = entries.flatMap((entry) => entry.memos.map((memo) => ({ ...memo, title: entry.title ?? '' })))
    const clippings = readClippings(text)
    for (const { title, kind, text, page, location, createdAt } of clippings) {
      const isKept = memos.some(
        (memo) =>
          title.startsWith(memo.title) &&
          text !== '' &&
          memo.content.includes(text) &&
          // A note has the page and the time of its highlight.
          (kind === 'note' || (memo.type === 'BOOK_CONTENT' && memo.page === page && memo.createdAt === createdAt)),
      )
      // A bookmark, a highlight without text, or one that was edited later.
      const place = new RegExp(location ? `location ${location}\\b` : 'line')
      if (!isKept) expect(lost.map(({ field }) => field)).toContainEqual(expect.stringMatching(place))
    }
    const highlights = memos.filter(({ type }) => type === 'BOOK_CONTENT')
    expect(highlights.length).toBeGreaterThan(0)
    expect(highlights.length).toBeLessThanOrEqual(clippings.filter(({ kind }) => kind === 'highlight').length)
  })
})
