import { describe, expect, it } from 'vitest'
import table from '../../fixtures/imports/kindle-notebook.csv?raw'
import file from '../../fixtures/imports/kindle-notebook.xhtml?raw'
import app from '../../fixtures/imports/kindle-notebook-app.xhtml?raw'
import { read, reasonOf } from '../../support/transfer/import-files'

const memo = (type: string, content: string, page: number) => ({ type, content, page, createdAt: null })

describe('a notebook of Kindle', () => {
  it('has highlights with their notes, and notes on nothing', () => {
    expect(read(file)).toMatchObject({
      format: 'kindle-notebook',
      unknownColumns: [],
      entries: [
        {
          title: 'The Salt Archive: A Novel (Harbour Book 2)',
          author: 'Oh, Mina',
          status: null,
          failure: null,
          memos: [
            memo('BOOK_CONTENT', 'Salt keeps what the sea forgets , ‘ as if ’ it & the tide were one .', 3),
            memo('BOOK_CONTENT', 'The tide has no memory .\n\nCompare with chapter two.', 13),
            memo('THOUGHT', 'A note on nothing that is marked.', 13),
            memo('THOUGHT', 'A map.', 188),
          ],
        },
      ],
    })
  })

  it('names what it loses by its heading', () => {
    expect(read(file).entries[0]?.losses).toEqual([
      { code: 'not-supported', field: 'color' },
      { code: 'bookmark', field: 'Bookmark - 1. Beyond Page 9 - or Not > Page 14 · Location 200' },
      { code: 'empty-highlight', field: 'Highlight (blue) - 2. Maps > Page 188 · Location 2518' },
    ])
  })

  it('may have locations only, as from other versions of the app', () => {
    expect(read(app).entries).toMatchObject([
      {
        title: 'Low Tide',
        author: 'Ana Ruiz',
        memos: [
          memo('BOOK_CONTENT', 'Letting go of fear.\n\nYes! Write what you want.', 0),
          memo('BOOK_CONTENT', 'If you have no time to read.', 0),
        ],
      },
    ])
  })

  it('may be in another language', () => {
    const german = file
      .replaceAll('Highlight (', 'Markierung (')
      .replaceAll('Note -', 'Notiz -')
      .replaceAll('Bookmark -', 'Lesezeichen -')
      .replaceAll('Page', 'Seite')
      .replaceAll('Location', 'Position')
    expect(read(german).entries[0]?.memos).toEqual(read(file).entries[0]?.memos)
  })

  it('is the same import as the clippings of the device', () => {
    const clippings =
      'The Salt Archive: A Novel (Harbour Book 2) (Oh, Mina)\r\n- Your Highlight on page 3 | Location 71-72\r\n\r\nA\r\n==========\r\n'
    const { title, author } = read(clippings).entries[0] ?? {}
    expect(read(file).entries[0]).toMatchObject({ title, author })
  })

  it('names a text without a heading', () => {
    const start = "<div class='bookTitle'>Low Tide</div>"
    expect(read(`${start}<div class='noteText'>1</div>`).entries).toMatchObject([
      { title: 'Low Tide', memos: [], losses: [{ code: 'bad-row', field: 'noteText' }] },
    ])
  })

  it('is not another web page', () => {
    expect(reasonOf('<html><body><div class="book">Low Tide</div></body></html>')).toMatch('web page')
  })
})

describe('a notebook of Kindle as CSV', () => {
  it('has highlights with their notes, and notes on nothing', () => {
    expect(read(table)).toMatchObject({
      format: 'kindle-notebook',
      unknownColumns: [],
      entries: [
        {
          title: 'THE SALT ARCHIVE: A NOVEL',
          author: 'Mina Oh, Joon Park',
          memos: [
            memo('BOOK_CONTENT', 'Salt keeps what the "sea" forgets,\nas if it and the tide were one.', 3),
            memo('BOOK_CONTENT', 'The tide has no memory.\n\nCompare with chapter two.', 0),
            memo('THOUGHT', 'A note on nothing that is marked.', 0),
          ],
          losses: [
            { code: 'not-supported', field: 'Starred?' },
            { code: 'not-supported', field: 'color' },
            { code: 'bookmark', field: 'Bookmark Page 14' },
            { code: 'empty-highlight', field: 'Highlight (Pink) Page 188' },
          ],
        },
      ],
    })
  })

  it('is refused without the table of notes', () => {
    expect(reasonOf(table.slice(0, table.indexOf('"Annotation')))).toMatch(/Kindle.*cut off/)
  })
})
