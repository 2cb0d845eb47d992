import { describe, expect, it } from 'vitest'
import { kindle, koreaderClippings } from '../../../src/transfer/reader/formats/highlights/kindle'
import { koreaderJson } from '../../../src/transfer/reader/formats/highlights/koreader'
import file from '../../fixtures/imports/koreader.json?raw'
import lua from '../../fixtures/imports/koreader.lua?raw'
import clippings from '../../fixtures/imports/koreader-clippings.txt?raw'
import one from '../../fixtures/imports/koreader-one.json?raw'
import { NO_OPTIONS as options, read as readText, reasonOf, sourceOf } from '../../support/transfer/import-files'

const jsonSource = (json: unknown) => sourceOf('', json)
const read = (json: unknown) => koreaderJson.read(jsonSource(json), options)

describe('JSON', () => {
  const json = JSON.parse(file)
  const entries = read(json)

  it('has an entry for each document', () => {
    expect(entries).toMatchObject([
      {
        line: 1,
        title: 'The Salt Archive',
        author: 'Mina Oh, Joon Park',
        sourceIds: ['koreader:0123456789abcdef0123456789abcdef'],
        itemPage: null,
        status: null,
        failure: null,
        cells: { names: [], values: [] },
      },
      { line: 2, title: 'Field Notes', author: 'Lee Kim', sourceIds: [] },
    ])
  })

  it('appends notes to highlights, and reads times as Unix seconds', () => {
    expect(entries[0]?.memos).toEqual([
      {
        type: 'BOOK_CONTENT',
        content: 'Salt keeps what the sea forgets.\n\nCompare with chapter two.',
        page: 12,
        createdAt: '2026-03-14T10:15:30',
        key: '#koreader 2026-03-14T10:15:30',
      },
      {
        type: 'THOUGHT',
        content: 'Read again.',
        page: 14,
        createdAt: '2026-03-14T10:16:30',
        key: '#koreader 2026-03-14T10:16:30',
      },
    ])
    expect(entries[1]?.memos).toMatchObject([
      { type: 'BOOK_CONTENT', content: 'A day without wind.', page: 1 },
      { type: 'THOUGHT', content: 'Only a thought.', page: 181, createdAt: '2026-03-14T10:16:32' },
    ])
  })

  it('lists bookmarks, empty highlights and styles as losses', () => {
    expect(entries[0]?.losses).toEqual([
      { code: 'bookmark', field: 'entry 3' },
      { code: 'empty-highlight', field: 'entry 4' },
      { code: 'not-supported', field: 'drawer' },
      { code: 'not-supported', field: 'color' },
    ])
    expect(entries[1]?.losses).toEqual([{ code: 'bookmark', field: 'entry 3' }])
  })

  it('may be one book, whose highlight has no note', () => {
    expect(koreaderJson.matches(jsonSource(JSON.parse(one)))).toBe(true)
    expect(read(JSON.parse(one))).toMatchObject([
      {
        title: 'A Lamp for the Tide',
        author: 'Ana Ruiz',
        sourceIds: [],
        memos: [{ type: 'BOOK_CONTENT', content: 'The lamp was lit before the tide.', page: 4 }],
      },
    ])
  })

  it('may be one book, several documents, or an array', () => {
    const [book] = json.documents
    for (const shape of [book, { documents: [book] }, [book]]) {
      expect(koreaderJson.matches(jsonSource(shape))).toBe(true)
      expect(read(shape)).toEqual(entries.slice(0, 1))
    }
  })

  it('detects a book without highlights', () => {
    const book = { title: 'Demian', entries: [], created_on: 1773483330, version: 'json/1.0.0' }
    expect(koreaderJson.matches(jsonSource(book))).toBe(true)
    expect(read(book)).toMatchObject([{ title: 'Demian', memos: [], losses: [] }])
  })

  it.each([
    undefined,
    null,
    1,
    'entries',
    [],
    {},
    { documents: 'x' },
    { documents: [null, [], { entries: {} }] },
    { title: 'Demian', entries: ['x'] },
    { title: 'Demian', entries: [{ id: 1 }] },
  ])('is not %j', (other) => {
    expect(koreaderJson.matches(jsonSource(other))).toBe(false)
    read(other)
  })

  it('reports what is not a book or a highlight', () => {
    const odd = { text: 'Words', note: ['x'], page: 1.5, time: 1e300 }
    const documents = [
      1,
      { title: { a: 1 }, author: 7, md5sum: [], entries: [null, [], 'x', odd, { text: 1, note: {} }] },
    ]
    expect(read({ documents })).toMatchObject([
      { line: 1, failure: 'bad-row' },
      {
        line: 2,
        title: null,
        author: null,
        failure: 'no-title',
        memos: [{ type: 'BOOK_CONTENT', content: 'Words', page: 0, createdAt: null }],
        losses: [
          { code: 'bad-row', field: 'entry 1' },
          { code: 'bad-row', field: 'entry 2' },
          { code: 'bad-row', field: 'entry 3' },
          { code: 'bad-date', field: 'entry 4' },
          { code: 'empty-highlight', field: 'entry 5' },
        ],
      },
    ])
  })

  it.each([0, -1, Number.MAX_VALUE, 253_402_300_800, null])('reads the time %d as a bad date', (time) => {
    const [entry] = read({ title: 'Demian', entries: [{ text: 'Words', time }] })
    expect(entry).toMatchObject({ memos: [{ createdAt: null }], losses: [{ code: 'bad-date' }] })
  })

  const withEntries = (length: number) => ({
    title: 'Demian',
    entries: Array.from({ length }, () => ({ text: 'Words', page: 1, time: 1 })),
  })

  it('reads 100,000 entries', () => {
    expect(read(withEntries(100_000))[0]?.memos).toHaveLength(100_000)
  })
})

describe('clippings', () => {
  it('are distinguished from those of Kindle', () => {
    expect(koreaderClippings.matches(sourceOf(clippings))).toBe(true)
    expect(kindle.matches(sourceOf(clippings))).toBe(false)
    const location = clippings.replace('on page 12 |', 'on page 12 | Location 3-4 |')
    expect(koreaderClippings.matches(sourceOf(location))).toBe(false)
    expect(kindle.matches(sourceOf(location))).toBe(true)
    expect(koreaderClippings.matches(sourceOf(clippings.replaceAll('\n', '\r\n')))).toBe(true)
    expect(koreaderClippings.matches(sourceOf(''))).toBe(false)
    expect(koreaderClippings.matches(sourceOf(clippings.replace(' 10:15:30', ' 9:15:30')))).toBe(false)
  })

  it('join a note with the highlight before it, and merge none because of the page', () => {
    expect(koreaderClippings.read(sourceOf(clippings), options)).toMatchObject([
      {
        line: 1,
        title: 'The Salt Archive',
        author: 'Mina Oh, Joon Park',
        memos: [
          {
            type: 'BOOK_CONTENT',
            content: 'Salt keeps what the sea forgets.\n\nCompare with chapter two.',
            page: 12,
            createdAt: '2026-03-14T10:15:30',
          },
          { type: 'BOOK_CONTENT', content: 'Salt keeps', page: 12, createdAt: '2026-03-14T22:15:30' },
        ],
        losses: [],
      },
      {
        title: 'Field Notes',
        author: null,
        memos: [{ content: 'A day without wind.', page: 0, createdAt: '2026-03-01T00:00:05' }],
      },
    ])
  })

  it.each([
    ['time', 'note on page 12 | Added on Saturday, March 14, 2026 10:15:31 AM'],
    ['page', 'note on page 13 | Added on Saturday, March 14, 2026 10:15:30 AM'],
  ])('do not join a note with another %s', (_, note) => {
    const other = clippings.replace(/note on page 12 .*/, note)
    expect(koreaderClippings.read(sourceOf(other), options)[0]?.memos).toMatchObject([
      { type: 'BOOK_CONTENT' },
      { type: 'THOUGHT', content: 'Compare with chapter two.' },
      { type: 'BOOK_CONTENT' },
    ])
  })

  it('may have a blank line after the title, as older versions wrote it', () => {
    const older = clippings.replaceAll(/\n(?=- Your)/g, '\n\n').replaceAll('\nJoon', ', Joon')
    expect(koreaderClippings.matches(sourceOf(older))).toBe(true)
    expect(koreaderClippings.read(sourceOf(older), options)[0]?.memos).toHaveLength(2)
  })
})

describe('a metadata file', () => {
  it('has the book, its status, highlights and notes', () => {
    expect(readText(lua)).toMatchObject({
      format: 'koreader-lua',
      entries: [
        {
          title: 'The Salt Archive',
          author: 'Mina Oh, Joon Park',
          isbn: '9780306406157',
          language: 'en',
          series: 'Harbour',
          seriesNumber: 2,
          sourceIds: ['koreader-partial:0123456789abcdef0123456789abcdef'],
          itemPage: null,
          status: 'DONE',
          quarters: 16,
          readings: [],
          memos: [
            { type: 'THOUGHT', content: 'Worth a second reading.', createdAt: null, source: 'koreader-lua note' },
            {
              type: 'BOOK_CONTENT',
              content: 'Salt keeps what the "sea" forgets.',
              page: 12,
              createdAt: '2026-03-01T21:15:30',
            },
            {
              type: 'BOOK_CONTENT',
              content: 'The tide has no memory.\n\nCompare\nwith chapter one.',
              page: 29,
              createdAt: '2026-03-02T08:10:00',
            },
          ],
          losses: [
            { code: 'bookmark', field: 'entry 2' },
            { code: 'not-supported', field: 'drawer' },
            { code: 'not-supported', field: 'color' },
          ],
        },
      ],
    })
  })

  it('has a book without metadata by the name of its file, and one on hold', () => {
    const file =
      'return {\n    ["doc_path"] = "/mnt/Low Tide.v2.epub",\n    ["doc_props"] = {},\n    ["summary"] = { ["status"] = "abandoned" }\n}'
    expect(readText(file).entries).toMatchObject([
      { title: 'Low Tide.v2', author: null, status: 'ING', readings: [{ isPaused: true }], losses: [] },
    ])
  })

  it.each([
    ['code', 'return { ["doc_props"] = { ["title"] = os.getenv("HOME") } }'],
    ['a text that is cut off', lua.slice(0, 400)],
    ['a long string', `return { ["doc_props"] = { ["title"] = "${String.raw`\"`.repeat(600_000)}" } }`],
    ['nested tables', `return ${'{["a"] = '.repeat(100_000)}`],
    ['highlights of an older version', 'return { ["bookmarks"] = { [1] = {} }, ["doc_props"] = {} }'],
  ])('is refused with %s', (_, file) => {
    expect(reasonOf(file)).toMatch(/KOReader.*JSON/)
  })

  it('may have lists without keys', () => {
    const file = `return {
\t["annotations"] = {
\t\t{ ["text"] = "Salt", ["datetime"] = "2024-05-06 07:08:09" },
\t\t{ ["text"] = "Sea", ["datetime"] = "2024-05-06 07:08:10"; },
\t},
\t["doc_props"] = { title = "Low Tide", ["authors"] = "Ana Ruiz" }
}`
    expect(readText(file)).toMatchObject({
      format: 'koreader-lua',
      entries: [
        {
          ...{ title: 'Low Tide', author: 'Ana Ruiz' },
          memos: [
            { content: 'Salt', createdAt: '2024-05-06T07:08:09' },
            { content: 'Sea', createdAt: '2024-05-06T07:08:10' },
          ],
        },
      ],
    })
  })

  it('may have the bytes of characters beyond ASCII, and reports those that are none', () => {
    const file = String.raw`return { ["annotations"] = {}, ["doc_props"] = { ["title"] = "caf\195\169 \236\149\132\n", ["authors"] = "\195 A" } }`
    expect(readText(file).entries).toMatchObject([
      { title: 'café 아', author: '\ufffd A', losses: [{ code: 'bad-bytes', field: 'author' }] },
    ])
  })

  it('has escaped characters', () => {
    const file = String.raw`return { ["doc_props"] = { ["title"] = "A\\B\"C\9D\tE", ["authors"] = "\65nn" } }`
    expect(readText(file).entries).toMatchObject([{ title: 'A\\B"C\tD\tE', author: 'Ann' }])
  })
})
