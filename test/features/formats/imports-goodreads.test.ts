import { describe, expect, it } from 'vitest'
import file from '../../fixtures/imports/goodreads.csv?raw'
import resaved from '../../fixtures/imports/goodreads-24.csv?raw'
import old from '../../fixtures/imports/goodreads-31.csv?raw'
import { read, readByTitle, readRow } from '../../support/transfer/import-files'

const goodreads = (cells: Record<string, string>, shelfMap = {}) =>
  readRow({ 'Book Id': '1', Title: 'The Salt Archive', 'Exclusive Shelf': 'read', ...cells }, { shelfMap })
const dates = ({ readings }: ReturnType<typeof goodreads>) =>
  readings.map(({ startedAt, finishedAt, outcome }) => [startedAt, finishedAt, outcome])

describe('an import from Goodreads', () => {
  it.each([
    ['A (Harbour, #2)', 'Harbour', 2, []],
    ['A (Harbour #2.5)', 'Harbour', 2.5, []],
    ['A (Harbour, #1-3)', 'Harbour', 1, [{ code: 'not-supported', field: 'Title' }]],
    ['A (Harbour, #2; Tides, #7)', 'Harbour', 2, [{ code: 'not-supported', field: 'Title' }]],
    ['A (Harbour, #2) (German Edition)', 'Harbour', 2, []],
    ['A (Harbour, #2) (Tides, #7)', 'Harbour', 2, [{ code: 'not-supported', field: 'Title' }]],
    ['A (1999) (Harbour, #2)', 'Harbour', 2, []],
    ['A (Harbour, #2) and more', null, null, []],
    ['A (revised)', null, null, []],
  ])('has the first series of the title: %s', (Title, series, seriesNumber, losses) => {
    expect(goodreads({ Title })).toMatchObject({ title: Title, series, seriesNumber, losses })
  })

  it('is unread if the shelf says so, without its dates', () => {
    expect(goodreads({ 'Exclusive Shelf': 'to-read', 'Date Read': '2024/05/01' })).toMatchObject({
      status: 'YET',
      readings: [],
      losses: [{ code: 'unread-with-dates' }],
    })
  })

  it('reports shelves that become no tags, except the exclusive one', () => {
    const shelves = { Bookshelves: 'read, sea, to-read' }
    expect(goodreads(shelves)).toMatchObject({
      tags: ['sea'],
      losses: [{ code: 'not-supported', field: 'Bookshelves' }],
    })
    expect(goodreads({ Bookshelves: 'read, sea' })).toMatchObject({ tags: ['sea'], losses: [] })
  })

  it('has the fields of a book', () => {
    expect(read(file).format).toBe('goodreads')
    expect(readByTitle(file)['The Salt Archive (Harbour, #2)']).toMatchObject({
      line: 2,
      author: 'Mina Oh, Joon Park',
      publisher: 'Quay House',
      itemPage: 312,
      isbn: '9780446675505',
      format: 'PAPER',
      publishedYear: 2019,
      series: 'Harbour',
      seriesNumber: 2,
      sourceIds: ['goodreads:81234'],
      addedAt: '2025-12-30',
      status: 'DONE',
      quarters: 16,
      readings: [{ startedAt: null, finishedAt: '2026-03-14', outcome: 'FINISHED' }],
      tags: ['sea', 'favourites'],
      memos: [{ type: 'THOUGHT', content: 'Slow, then not.<br/>Read twice.', page: 0, createdAt: null }],
      failure: null,
    })
  })

  it.each([
    ['23, without Average Rating', file],
    ['24 and those of an enhancer', resaved],
    ['31', old],
  ])('is recognized with its columns: %s', (_, text) => {
    expect(read(text).format).toBe('goodreads')
    expect(read(text).unknownColumns).toEqual([])
  })

  it('has several authors, and a review with HTML and line breaks', () => {
    expect(readByTitle(file)['Tide Tables']).toMatchObject({
      author: 'Ana Ruiz, Lee Kim, Joon Park',
      publishedYear: 1998,
      status: 'DONE',
      readings: [{ startedAt: null, finishedAt: '2026-02-01', outcome: 'FINISHED' }],
      memos: [
        {
          type: 'THOUGHT',
          content:
            '<b>Slow</b>,\n<i>then</i> not.<br/><blockquote>Salt keeps.</blockquote>\n<spoiler>She <a href="https://a.example">stays</a>.</spoiler>',
        },
      ],
      losses: [{ code: 'not-supported', field: 'Spoiler' }],
    })
  })

  it('saved again by a spreadsheet has ISBNs with all digits, and dates in the order of another column', () => {
    expect(resaved).toMatch(/[^\r]\n/)
    expect(resaved).toMatch(/\r\n/)
    expect(readByTitle(resaved)).toMatchObject({
      'The Salt Archive (Harbour, #2)': {
        author: 'Mina Oh, Joon Park',
        isbn: '9780446675505',
        quarters: 20,
        addedAt: '2025-12-11',
        readings: [
          { startedAt: null, finishedAt: '2024-05-09' },
          { startedAt: '2026-03-01', finishedAt: '2026-03-14' },
        ],
        tags: ['sea', 'favourites'],
        memos: [{ content: 'Slow, then not.<br/>\nRead twice.' }],
        losses: [
          { code: 'spreadsheet-isbn', field: 'ISBN13' },
          { code: 'not-supported', field: 'Owned Copies' },
          { code: 'not-supported', field: 'genres' },
        ],
      },
      'A Lamp for the Tide': {
        line: 4,
        isbn: null,
        quarters: null,
        addedAt: '2026-01-05',
        readings: [{ finishedAt: '2026-02-03' }],
        losses: [{ code: 'spreadsheet-isbn', field: 'ISBN13' }],
      },
      'Nine Quiet Doors': { line: 5, status: 'YET', addedAt: '2026-01-06', losses: [] },
    })
  })

  it('of before 2022 names what the library has no place for', () => {
    expect(readByTitle(old)['The Salt Archive']?.losses).toEqual(
      [
        'Read Count',
        'Spoiler',
        'Owned Copies',
        'Recommended For',
        'Recommended By',
        'Original Purchase Date',
        'Original Purchase Location',
        'Condition',
        'Condition Description',
        'BCID',
      ].map((field) => ({ code: 'not-supported', field })),
    )
  })

  it('is recognized in any order of the columns, in any case, and without most of them', () => {
    expect(read('EXCLUSIVE SHELF, title \nto-read,A\n')).toMatchObject({
      format: 'goodreads',
      entries: [{ title: 'A', status: 'YET' }],
    })
  })

  it('lists unknown columns, and reads others by their usual names', () => {
    expect(read('Title,Exclusive Shelf,Zodiac,Language\nA,read,Leo,Korean\n')).toMatchObject({
      unknownColumns: ['Zodiac'],
      entries: [{ language: 'ko', status: 'DONE' }],
    })
  })

  it.each([
    ['="0446675504"', '9780446675505'],
    ['=0446675504', '9780446675505'],
    ['446675504', '9780446675505'],
    ['9780446675505.0', '9780446675505'],
    ['=""', null],
    ['=', null],
  ])('has the ISBN of the cell %s', (ISBN, isbn) => {
    expect(goodreads({ ISBN })).toMatchObject({ isbn, losses: [] })
  })

  it.each([
    ['9.78045E+12', 'spreadsheet-isbn'],
    ['0446675505', 'bad-isbn'],
    ['123', 'bad-isbn'],
  ])('reports the ISBN %s', (ISBN13, code) => {
    expect(goodreads({ ISBN13 })).toMatchObject({ isbn: null, losses: [{ code, field: 'ISBN13' }] })
  })

  it.each([
    ['0', null, []],
    ['', null, []],
    ['5.0', 20, []],
    ['3.7', 15, ['rating-rounded']],
    ['0.1', 1, ['rating-rounded']],
    ['6', null, ['bad-rating']],
    ['-1', null, ['bad-rating']],
    ['good', null, ['bad-rating']],
  ])('has the rating %s', (rating, quarters, losses) => {
    const entry = goodreads({ 'My Rating': rating })
    expect(entry.quarters).toBe(quarters)
    expect(entry.losses.map(({ code }) => code)).toEqual(losses)
  })

  describe('dates', () => {
    it.each([
      ['2026/03/14', '2026-03-14'],
      ['2026-03-14', '2026-03-14'],
      ['3/14/26', '2026-03-14'],
      ['14/3/2026', '2026-03-14'],
      ['3/3/99', '1999-03-03'],
      ['2024/02/29', '2024-02-29'],
      ['2026. 3. 14.', '2026-03-14'],
      ['2026/03', '2026-03'],
      ['2026', '2026'],
    ])('%s is read', (date, finishedAt) => {
      expect(goodreads({ 'Date Read': date })).toMatchObject({ readings: [{ finishedAt }], losses: [] })
    })

    it.each(['2026/13/01', '2025/02/29', '0000/01/01', 'soon', '13/13/2026'])('%s is reported', (date) => {
      expect(goodreads({ 'Date Read': date })).toMatchObject({
        status: 'DONE',
        readings: [],
        losses: [{ code: 'bad-date', field: 'Date Read' }],
      })
    })

    const column = (...cells: string[]) =>
      read(`Title,Exclusive Shelf,Date Read\n${cells.map((cell, at) => `A${at},read,${cell}\n`).join('')}`).entries.map(
        ({ readings }) => readings[0]?.finishedAt,
      )

    it('have the order of days and months of the whole column', () => {
      expect(column('3/4/26', '3/14/26')).toEqual(['2026-03-04', '2026-03-14'])
      expect(column('3/4/26', '14/3/26')).toEqual(['2026-04-03', '2026-03-14'])
    })

    it('are reported if the column has both orders, or none', () => {
      expect(column('3/4/2026', '3/14/2026', '14/3/2026')).toEqual([undefined, '2026-03-14', '2026-03-14'])
      expect(column('3/4/26', '5/6/26')).toEqual([undefined, undefined])
      expect(goodreads({ 'Date Read': '3/4/26' }).losses).toEqual([
        { code: 'bad-date', field: 'Date Read: 3/4/26 is 2026-04-03 or 2026-03-04' },
      ])
    })

    it('of the addition must be complete', () => {
      expect(goodreads({ 'Date Added': '2026/03' })).toMatchObject({
        addedAt: null,
        losses: [{ code: 'partial-date' }],
      })
    })
  })

  describe('the shelf', () => {
    it('did-not-finish is a stopped reading', () => {
      expect(readByTitle(file)['Left Half Way']).toMatchObject({
        status: 'DONE',
        readings: [{ finishedAt: '2025-07-01', outcome: 'STOPPED' }],
        tags: [],
      })
    })

    it('of the member is a tag until they say what it means', () => {
      expect(readByTitle(file)['The Grey Shelf']).toMatchObject({
        status: null,
        readings: [],
        tags: ['abgebrochen'],
        losses: [{ code: 'custom-shelf-needs-choice', field: 'Exclusive Shelf: abgebrochen' }],
      })
    })

    it('of the member may have a name in any language', () => {
      expect(readByTitle(file)['The Ferry Song']).toMatchObject({ status: null, tags: ['읽다 만 책'] })
      expect(readByTitle(file, { shelfMap: { '읽다 만 책': 'STOPPED' } })['The Ferry Song']).toMatchObject({
        status: 'DONE',
        readings: [{ finishedAt: null, outcome: 'STOPPED' }],
        tags: [],
        losses: [],
      })
    })

    it.each([
      ['STOPPED', { status: 'DONE', readings: [{ outcome: 'STOPPED' }], tags: [] }],
      ['PAUSED', { status: 'ING', readings: [{ outcome: null, isPaused: true }], tags: [] }],
      ['YET', { status: 'YET', readings: [], tags: [] }],
      ['DONE', { status: 'DONE', readings: [], tags: [] }],
      ['TAG', { status: null, readings: [], tags: ['abgebrochen'] }],
    ] as const)('of the member may be mapped to %s', (meaning, expected) => {
      const entries = readByTitle(file, { shelfMap: { Abgebrochen: meaning } })
      expect(entries['The Grey Shelf']).toMatchObject({ ...expected, losses: [] })
    })

    it('may be missing if another one says the status', () => {
      expect(goodreads({ 'Exclusive Shelf': '', Bookshelves: 'sea, to-read' })).toMatchObject({
        status: 'YET',
        tags: ['sea'],
        losses: [],
      })
    })

    it('with the name of an object member is only a shelf', () => {
      expect(goodreads({ 'Exclusive Shelf': 'constructor' })).toMatchObject({ status: null, tags: ['constructor'] })
    })

    it('currently-reading begins another reading after a finished one', () => {
      const entry = goodreads({ 'Exclusive Shelf': 'currently-reading', 'Date Read': '2024/02/29' })
      expect(entry.status).toBe('ING')
      expect(dates(entry)).toEqual([
        [null, '2024-02-29', 'FINISHED'],
        [null, null, null],
      ])
    })
  })

  describe('readings', () => {
    it('without dates are reported, not invented', () => {
      expect(goodreads({ 'Date Read': '2026/03/14', 'Read Count': '3' })).toMatchObject({
        readings: [{ finishedAt: '2026-03-14' }],
        losses: [{ code: 'not-supported', field: 'Read Count' }],
      })
      expect(goodreads({ 'Date Read': '2026/03/14', 'Read Count': '0' })).toMatchObject({ losses: [] })
    })

    it('come from read_dates, of which the last one is Date Read', () => {
      const entry = goodreads({
        'Date Read': '2026/03/14',
        'Read Count': '3',
        read_dates: '2022;2024-05,2024-06;2026-03-01,2026-03-14',
      })
      expect(entry.losses).toEqual([])
      expect(dates(entry)).toEqual([
        [null, '2022', 'FINISHED'],
        ['2024-05', '2024-06', 'FINISHED'],
        ['2026-03-01', '2026-03-14', 'FINISHED'],
      ])
    })

    it('may go on', () => {
      const entry = goodreads({ 'Exclusive Shelf': 'currently-reading', read_dates: ',2024-05-01;2026-11-01,' })
      expect(dates(entry)).toEqual([
        [null, '2024-05-01', 'FINISHED'],
        ['2026-11-01', null, null],
      ])
    })

    it('report wrong dates, also finishes before the start', () => {
      const entry = goodreads({ read_dates: '2024-13;2025-02-01,2025-01-31' })
      expect(dates(entry)).toEqual([[null, '2025-01-31', 'FINISHED']])
      expect(entry.losses).toEqual([{ code: 'bad-date', field: 'read_dates' }])
    })

    it('are at most 201', () => {
      const years = Array.from({ length: 202 }, (_, at) => 1800 + at).join(';')
      expect(goodreads({ read_dates: years })).toMatchObject({ losses: [{ code: 'too-many', field: 'read_dates' }] })
    })
  })

  describe('texts that are too long', () => {
    it('are cut between characters', () => {
      const review = `${'x'.repeat(65_534)}📚`
      const entry = goodreads({ 'My Review': review, 'Private Notes': 'n', Title: `${'y'.repeat(499)}📚` })
      expect(entry.memos.map(({ content }) => content)).toEqual(['x'.repeat(65_534), 'n'])
      expect(entry.title).toBe('y'.repeat(499))
      expect(entry.losses).toEqual([
        { code: 'review-truncated', field: 'My Review' },
        { code: 'too-long', field: 'Title' },
      ])
    })

    it('lose authors, tags and characters of tags', () => {
      const names = Array.from({ length: 60 }, (_, at) => `Writer Number ${at}`)
      const entry = goodreads({
        Author: 'Mina Oh',
        'Additional Authors': names.join(', '),
        Bookshelves: names.join(','),
      })
      expect(entry.author?.length).toBeLessThanOrEqual(500)
      expect(entry.author).toMatch(/^Mina Oh, Writer Number 0, .*Writer Number \d+$/)
      expect(entry.tags).toEqual(names.slice(0, 30))
      expect(entry.losses).toEqual([
        { code: 'too-long', field: 'Author' },
        { code: 'too-many', field: 'Bookshelves' },
      ])
      expect(goodreads({ Bookshelves: 'z'.repeat(101) })).toMatchObject({
        tags: ['z'.repeat(100)],
        losses: [{ code: 'too-long', field: 'Bookshelves' }],
      })
    })
  })

  it('keeps a row without a title, with its cells, as a failure', () => {
    expect(goodreads({ Title: ' ' })).toMatchObject({
      failure: 'no-title',
      cells: { names: ['Book Id', 'Title', 'Exclusive Shelf'], values: ['1', ' ', 'read'] },
    })
  })
})
