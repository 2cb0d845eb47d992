import { describe, expect, it } from 'vitest'
import log from '../../fixtures/imports/open-library-log.csv?raw'
import { read, readByTitle, readRow } from '../../support/transfer/import-files'

describe('the names of columns', () => {
  it.each([
    ['no blanks', 'Title,DateRead,MyRating,ReadStatus'],
    ['underscores', 'title,date_read,my_rating,read_status'],
    ['dots, as R writes them', 'Title,Date.Read,My.Rating,Read.Status'],
    ['a plural', 'Titles,Finish Dates,My Ratings,Read Status'],
    ['capitals', 'TITLE,DATE READ,MY RATING,READ STATUS'],
    ['hyphens', 'Title,Date-Read,My-Rating,Read-Status'],
  ])('may have %s', (_, header) => {
    expect(read(`${header}\nA,2026-03-14,4,read\n`)).toMatchObject({
      format: 'csv',
      unknownColumns: [],
      unreadColumns: [],
      entries: [{ title: 'A', status: 'DONE', quarters: 16, readings: [{ finishedAt: '2026-03-14' }], losses: [] }],
    })
  })

  it('may be those of a service without blanks', () => {
    const header = 'BookId,Title,Author,AdditionalAuthors,MyRating,DateRead,ExclusiveShelf,Bookshelves'
    expect(
      read(`${header}\n81,"Low Tide (Harbour, #2)",Ana Ruiz,Mina Oh,4,2026/03/14,read,"sea, gift"\n`),
    ).toMatchObject({
      format: 'goodreads',
      unknownColumns: [],
      entries: [
        {
          sourceIds: ['goodreads:81'],
          author: 'Ana Ruiz, Mina Oh',
          series: 'Harbour',
          status: 'DONE',
          tags: ['sea', 'gift'],
        },
      ],
    })
  })

  it('keep pages and page, and notes and note, apart', () => {
    expect(readRow({ Title: 'A', Pages: '300', Page: '12', Notes: 'words', Note: '4' })).toMatchObject({
      itemPage: 300,
      currentPage: 12,
      quarters: 16,
      memos: [{ content: 'words' }],
    })
  })

  it('have a note as words beside a rating', () => {
    expect(readRow({ Title: 'A', Rating: '4', Note: 'words' })).toMatchObject({
      quarters: 16,
      memos: [{ content: 'words' }],
    })
    expect(readRow({ Title: 'A', Rating: '4', Page: '12' })).toMatchObject({ currentPage: 12, itemPage: null })
  })

  it('may be memo, for words', () => {
    expect(readRow({ Title: 'A', memo: 'words' }).memos).toMatchObject([{ content: 'words' }])
  })

  it('may be book_name, for the title', () => {
    expect(readRow({ book_name: 'A', name: 'shelf of Mina' })).toMatchObject({ title: 'A' })
  })

  it('may be that of a year in which a book was read', () => {
    expect(readRow({ Title: 'A', 'Year Read': '2024' })).toMatchObject({
      status: 'DONE',
      readings: [{ finishedAt: '2024' }],
      publishedYear: null,
    })
  })

  it('are exact before they are plural', () => {
    expect(readRow({ Books: '2', Ratings: '900', Title: 'A', Rating: '4' })).toMatchObject({ title: 'A', quarters: 16 })
  })

  it('are two if they differ only in blanks', () => {
    expect(read('Title,Date Read,DateRead\nA,2026-03-14,2025-01-01\n')).toMatchObject({
      unknownColumns: ['DateRead (3)'],
      unreadColumns: [{ column: 'DateRead (3)', looksLike: 'DATE', samples: ['2025-01-01'] }],
      entries: [{ readings: [{ finishedAt: '2026-03-14' }] }],
    })
  })

  it('may be named by the member without blanks', () => {
    expect(readRow({ 'Work Name': 'A' }, { columns: { title: 'workname' } }).title).toBe('A')
  })
})

describe('the reading log of Open Library', () => {
  it('has the books with status and rating', () => {
    expect(read(log)).toMatchObject({ format: 'open-library', unknownColumns: [] })
    expect(readByTitle(log)).toMatchObject({
      'The Salt Archive': {
        author: 'Mina Oh, Joon Park',
        sourceIds: ['openlibrary:OL101W', 'openlibrary-edition:OL201M'],
        publishedYear: 2019,
        status: 'DONE',
        quarters: 20,
        readings: [],
        losses: [],
      },
      'Low Tide': { status: 'ING', quarters: null, losses: [] },
      'Field Notes': { author: null, status: 'DONE', quarters: 8, readings: [{ outcome: 'STOPPED' }] },
      'Tide Tables': { status: 'YET' },
    })
  })
})

describe('a column that is not read', () => {
  const unreadOf = (name: string, ...values: string[]) =>
    read([`Title,${name}`, ...values.map((value, at) => `Book ${at},"${value}"`)].join('\n')).unreadColumns

  it.each([
    ['STATUS', 'Progress', ['done', 'reading', 'done', 'later']],
    ['STATUS', 'Wie weit', ['gelesen', 'zu lesen']],
    ['STATUS', 'Reading state', ['o', 'x', 'o']],
    ...['Przeczytana', 'Прочитано', 'Letto', 'Durum', 'Stav', 'État', '已读'].map(
      (name): [string, string, string[]] => ['STATUS', name, ['o', 'x', 'o']],
    ),
    ...['Rate', 'Points', 'Wertung', '점수', '点数', 'Ocena', 'Hodnocení', 'Karakter', 'Puan'].map(
      (name): [string, string, string[]] => ['RATING', name, ['4', '3', '5']],
    ),
    ['STATUS', 'Read?', ['Yes', 'No']],
    ['STATUS', '#read', ['Yes', '']],
    ['STATUS', '진행 상태', ['끝', '아직']],
    ['STATUS', '読書ステータス', ['済', '']],
    ['RATING', 'Score', ['8', '9.5', '10']],
    ['RATING', 'Rating (mine)', ['4', '3,5']],
    ['RATING', '내 평점', ['4', '5']],
    ['RATING', 'Meine Sterne', ['4', '5']],
    ['RATING', 'Verdict', ['★★★★', '★★']],
    ['RATING', 'Verdict', ['4/5', '3/5']],
    ['RATING', 'How good', ['4.5', '3', '5']],
    ['DATE', 'When', ['2026-03-14', '14.3.2026', '3/14/26']],
    ['DATE', 'When', ['14 March 2026', 'Mar 15, 2026', '2026년 3월 14일']],
    ['DATE', 'Bought', ['2026/03/14']],
    ['DATE', 'Date finished reading', ['spring 2020', '2021']],
    ['DATE', 'YEAR (READ)', ['2019', '2020', '2019']],
    ['DATE', 'When', ['9-Jan-24', '03/2024', '20240109']],
  ])('is reported if it looks like a %s: %s', (looksLike, name, values) => {
    const samples = [...new Set(values.filter(Boolean))].slice(0, 3)
    expect(unreadOf(name, ...values)).toEqual([{ column: name, looksLike, samples }])
  })

  it.each([
    ['Zodiac', ['Leo', 'Virgo']],
    ['Average Rating', ['4.2', '3.9']],
    ['Ratings Count', ['4', '5']],
    ['Copies', ['1', '2']],
    ['Volume', ['1', '2', '3', '4', '5', '6']],
    ['Average', ['4.5', '3', '5']],
    ['Price', ['12.50', '9']],
    ['Score', ['']],
    ['Summary', ['She was reading on 2026-03-14, when the tide came in.', 'done']],
    ['Estate', ['Long texts about the house, its rooms, and all who lived in it', 'x'.repeat(100)]],
  ])('is not reported if it looks like nothing of these: %s', (name, values) => {
    expect(unreadOf(name, ...values)).toEqual([])
  })

  it('is reported once, with three different values of at most 40 characters, and at most twenty of them', () => {
    const long = `${'★'.repeat(5)} ${'!'.repeat(100)}`
    expect(unreadOf('Rating (mine)', '1', '1', '2', '3', '4')).toMatchObject([{ samples: ['1', '2', '3'] }])
    expect(unreadOf('My own status', 'a', long, 'b')).toMatchObject([{ samples: ['a', long.slice(0, 40), 'b'] }])
    const many = Array.from({ length: 30 }, (_, at) => `Score ${at}`)
    const { unreadColumns, unknownColumns } = read(`Title,${many}\nA${',4'.repeat(30)}\n`)
    expect([unreadColumns.length, unknownColumns.length]).toEqual([20, 30])
  })

  it('is reported for the files of services, too', () => {
    expect(read('Title,Exclusive Shelf,My own rating\nA,read,4.5\n')).toMatchObject({
      format: 'goodreads',
      unreadColumns: [{ column: 'My own rating', looksLike: 'RATING', samples: ['4.5'] }],
    })
  })

  it('is not reported if the member names it', () => {
    const file = 'Title,Verdict\nA,★★★\n'
    expect(read(file, { columns: { rating: 'Verdict' } })).toMatchObject({
      unknownColumns: [],
      unreadColumns: [],
      entries: [{ quarters: 12 }],
    })
  })
})
