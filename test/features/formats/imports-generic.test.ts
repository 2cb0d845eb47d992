import { describe, expect, it } from 'vitest'
import korean from '../../fixtures/imports/generic-ko.csv?raw'
import { encodeAs, read, readByTitle, readRow, reasonOf } from '../../support/transfer/import-files'

describe('an import of any table', () => {
  it('guesses Korean columns, and a decimal comma', () => {
    expect(read(korean)).toMatchObject({ format: 'csv', unknownColumns: [] })
    expect(readByTitle(korean)['소금 기록']).toMatchObject({
      author: '오미나',
      isbn: '9780446675505',
      publisher: '부두',
      itemPage: 312,
      status: 'DONE',
      quarters: 18,
      readings: [{ finishedAt: '2026-03-14', outcome: 'FINISHED' }],
      tags: ['바다', '선물'],
      memos: [{ type: 'THOUGHT', content: '느리다' }],
    })
  })

  it('may be in the encoding of Korean spreadsheets', () => {
    expect(read(encodeAs('euc-kr', korean))).toEqual({ ...read(korean), encoding: 'euc-kr' })
    // Not in EUC-KR, only in CP949.
    expect(readByTitle(korean)['등대지기의 밥상']).toMatchObject({ status: 'YET', tags: ['똠양꿍'] })
  })

  it('reports what it cannot read, by the column of the file', () => {
    expect(readByTitle(korean).조수표).toMatchObject({
      isbn: null,
      status: null,
      quarters: null,
      readings: [],
      losses: [
        { code: 'spreadsheet-isbn', field: 'ISBN' },
        { code: 'bad-rating', field: '별점' },
        { code: 'bad-date', field: '완독일' },
        { code: 'unknown-status', field: '독서 상태' },
      ],
    })
  })

  it.each([
    ['English', { Title: 'A', Authors: 'B', 'Reading Status': 'Want to Read' }],
    ['Portuguese', { Título: 'A', Autor: 'B', Situação: 'Quero ler' }],
    ['Spanish', { Título: 'A', Autora: 'B', Estado: 'por leer' }],
    ['German', { Titel: 'A', 'Autor/in': 'B', Lesestatus: 'zu lesen' }],
    ['French', { Titre: 'A', Auteur: 'B', Statut: 'à lire' }],
    ['Japanese', { タイトル: 'A', 著者: 'B', 読書状況: '積読' }],
    [
      'decomposed Korean',
      { ['책 제목'.normalize('NFD')]: 'A', ['저자'.normalize('NFD')]: 'B', 상태: '읽을 책'.normalize('NFD') },
    ],
  ])('guesses %s columns', (_, row) => {
    expect(readRow(row as Record<string, string>)).toMatchObject({ title: 'A', author: 'B', status: 'YET', losses: [] })
  })

  it.each(['Subtitle', '부제', 'Subtítulo', 'Untertitel', 'Sous-titre', 'サブタイトル'])(
    'has a column %s',
    (column) => {
      const long = { Title: 'A', [column]: 'b'.repeat(501) }
      expect(readRow({ Title: 'A', [column]: ' B ' })).toMatchObject({ title: 'A', subtitle: 'B', losses: [] })
      expect(readRow(long)).toMatchObject({ subtitle: 'b'.repeat(500), losses: [{ code: 'too-long', field: column }] })
    },
  )

  it('has the columns that the member names, and others by their usual names', () => {
    const usual = { Title: 'wrong', Author: 'wrong', Publisher: 'Quay House', Status: 'read' }
    const row = { ...usual, Werk: 'A', Wer: 'B', Fertig: '14.3.2026', Nr: 'shop:12' }
    const columns = { title: 'werk', author: 'Wer', finishedAt: 'Fertig', sourceId: 'Nr' }
    expect(readRow(row, { columns })).toMatchObject({
      title: 'A',
      author: 'B',
      publisher: 'Quay House',
      status: 'DONE',
      readings: [{ finishedAt: '2026-03-14' }],
      sourceIds: ['shop:12'],
    })
    expect(read('Werk,Title\nA,b\n', { columns: { title: 'Werk' } })).toMatchObject({
      format: 'csv',
      unknownColumns: ['Title'],
    })
    expect(readRow({ Title: 'A', Notes: 'B' }, { columns: { review: 'Notes' } }).memos).toHaveLength(1)
  })

  it('is refused if a named column or field does not exist', () => {
    expect(reasonOf('Title\nA\n', { columns: { title: 'Werk' } })).toBe('The file has no column named Werk.')
    expect(reasonOf('Title\nA\n', { columns: { constructor: 'Title' } })).toMatch('no field constructor')
    expect(reasonOf('Werk\nA\n', { columns: { author: 'Werk' } })).toBeDefined()
  })

  it('may be any file if the member says so', () => {
    const goodreads = 'Title,Exclusive Shelf,Bookshelves\nA,to-read,sea\n'
    expect(read(goodreads).format).toBe('goodreads')
    expect(read(goodreads, { format: 'csv' })).toMatchObject({
      format: 'csv',
      entries: [{ status: 'YET', tags: ['sea'] }],
    })
  })

  it('has the status that the dates say only if there is no column for it', () => {
    expect(readRow({ Title: 'A', Finished: '2026-03-14' })).toMatchObject({ status: 'DONE' })
    expect(readRow({ Title: 'A', Started: '2026-03-14' })).toMatchObject({ status: 'ING' })
    expect(readRow({ Title: 'A', Finished: '2026-03-14', Status: '' })).toMatchObject({ status: null })
    expect(readRow({ Title: 'A' })).toMatchObject({ status: null, readings: [] })
  })

  it.each([
    ['Paperback', 'PAPER', []],
    ['Kindle Edition', 'EBOOK', []],
    ['eBook', 'EBOOK', []],
    ['Audible Audio', 'AUDIO', []],
    ['Audiobook', 'AUDIO', []],
    ['전자책', 'EBOOK', []],
    ['Scroll', null, [{ code: 'not-supported', field: 'Format' }]],
  ])('has the format %s', (Format, format, losses) => {
    expect(readRow({ Title: 'A', Format })).toMatchObject({ format, losses })
  })

  it.each([
    ['Korean', 'ko', []],
    ['kor', 'ko', []],
    ['pt_BR', 'pt-BR', []],
    ['EN', 'en', []],
    ['Klingonese', null, [{ code: 'not-supported', field: 'Language' }]],
    ['constructor', null, [{ code: 'not-supported', field: 'Language' }]],
  ])('has the language %s', (Language, language, losses) => {
    expect(readRow({ Title: 'A', Language })).toMatchObject({ language, losses })
  })

  it.each([
    ['0', null],
    ['0.0', null],
    ['-800', -800],
  ])('has the year %s', (Year, publishedYear) => {
    expect(readRow({ Title: 'A', Year })).toMatchObject({ publishedYear, losses: [] })
  })

  it.each([
    ['312', 312, []],
    ['1,024', 1024, []],
    ['312 pages', 312, []],
    ['312쪽', 312, []],
    ['0', null, []],
    ['-5', null, [{ code: 'bad-number', field: 'Pages' }]],
    ['99999999999', null, [{ code: 'bad-number', field: 'Pages' }]],
    ['many', null, [{ code: 'bad-number', field: 'Pages' }]],
  ])('has the pages %s', (Pages, itemPage, losses) => {
    expect(readRow({ Title: 'A', Pages })).toMatchObject({ itemPage, losses })
  })

  it.each([
    ['14 March 2026', '2026-03-14'],
    ['Mar 14, 2026', '2026-03-14'],
    ['March 2026', '2026-03'],
    ['2026년 3월 14일', '2026-03-14'],
    ['2026年3月', '2026-03'],
    ['14.03.99', '1999-03-14'],
    ['2026-03-14T10:20:30+09:00', '2026-03-14'],
    ['3.4.2026', '2026-04-03'],
  ])('has the date %s', (Finished, finishedAt) => {
    expect(readRow({ Title: 'A', Finished })).toMatchObject({ readings: [{ finishedAt }], losses: [] })
  })

  it.each([
    ['1965', 1965],
    ['1965.0', 1965],
    ['2019-04-01', 2019],
    ['April 2019', 2019],
  ])('has the year %s', (Year, publishedYear) => {
    expect(readRow({ Title: 'A', Year, Subtitle: 'B' })).toMatchObject({ publishedYear, subtitle: 'B', losses: [] })
    expect(readRow({ Title: 'A', Jahrgang: Year }, { columns: { publishedYear: 'Jahrgang' } })).toMatchObject({
      publishedYear,
    })
  })

  it.each([
    '출판년도',
    '출간일',
    'Ano',
    'Año de publicación',
    'Erscheinungsjahr',
    'Année',
    '出版年',
    'First Publish Year',
  ])('has a column %s', (column) =>
    expect(readRow({ Title: 'A', [column]: '1999' })).toMatchObject({ publishedYear: 1999 }),
  )

  it('reports an invalid year', () => {
    expect(readRow({ Title: 'A', Year: 'soon' })).toMatchObject({
      publishedYear: null,
      losses: [{ code: 'bad-number', field: 'Year' }],
    })
  })

  it.each([
    ['★★★★', 16],
    ['★★★★☆', 16],
    ['⭐⭐⭐⭐⭐', 20],
    ['⭐️⭐️⭐️', 12],
    ['★★★½', 14],
    ['☆☆☆☆☆', null],
    ['4/5', 16],
    ['4.5 / 5', 18],
    ['7/10', 14],
    ['4 out of 5', 16],
    ['4점', 16],
    ['4.5 stars', 18],
    ['3 Sterne', 12],
    ['4,25', 17],
    ['0/5', null],
  ])('has the rating %s', (Rating, quarters) => {
    expect(readRow({ Title: 'A', Rating })).toMatchObject({ quarters, losses: [] })
  })

  it.each(['6/5', '4/100', '4/0', '★★★★★★', '5 cats', '1/2/3'])('reports the rating %s', (Rating) => {
    expect(readRow({ Title: 'A', Rating })).toMatchObject({
      quarters: null,
      losses: [{ code: 'bad-rating', field: 'Rating' }],
    })
  })

  it.each([
    ['Rating (1-10)', '5', 10],
    ['Rating (out of 10)', '4', 8],
    ['My Rating /10', '3', 6],
    ['Nota de 0 a 10', '5', 10],
    ['Bewertung (von 10)', '5', 10],
    ['Note sur 20', '12', 12],
    ['평점(10점 만점)', '5', 10],
    ['評価（10点満点）', '4', 8],
    ['Rating (of 100)', '5', 1],
    ['Stars (out of 5)', '4', 16],
  ])('has the rating of a column %s', (name, rating, quarters) => {
    expect(read(`Title,${name}\nA,${rating}\n`)).toMatchObject({
      unreadColumns: [],
      entries: [{ quarters, losses: [] }],
    })
  })

  const ratings = (cells: string[], columns = {}) =>
    read(`Title,Rating\n${cells.map((cell, at) => `A${at},${cell}\n`).join('')}`, { columns }).entries.map(
      ({ quarters, losses }) => [quarters, ...losses.map(({ code, field }) => `${code} ${field}`)].join(' '),
    )

  it('has points of ten or of a hundred if ratings of the column go beyond five, and says so', () => {
    const [ten, hundred] = ['rating-scaled Rating: of 10', 'rating-scaled Rating: of 100']
    expect(ratings(['8', '4', '0', '9.5', '3/5', '★★★', '6'])).toEqual([
      ...[`16 ${ten}`, `8 ${ten}`, '', `19 ${ten}`, '12', '12', `12 ${ten}`],
    ])
    expect(ratings(['8점', '10점'])).toEqual([`16 ${ten}`, `20 ${ten}`])
    expect(ratings(['85', '5', '40'])).toEqual([`17 ${hundred}`, `1 ${hundred}`, `8 ${hundred}`])
  })

  it('is reported if the scale is not certain, and a slip of the pen changes no scale', () => {
    const bad = ' bad-rating Rating'
    expect(ratings(['14', '12', '4', '0', '4/5'])).toEqual([bad, bad, bad, '', '16'])
    expect(ratings(['7', '4.5'])).toEqual([bad, bad])
    expect(ratings(['101', '4'])).toEqual([bad, bad])
    expect(ratings([...Array(12).fill('4'), '45'])).toEqual([...Array(12).fill('16'), bad])
  })

  it.each([
    ['읽는중', 'ING'],
    ['독서중', 'ING'],
    ['읽고있음', 'ING'],
    ['완료', 'DONE'],
    ['읽었음', 'DONE'],
    ['완독함', 'DONE'],
    ['읽고 싶음', 'YET'],
    ['읽고싶어요', 'YET'],
    ['읽을책', 'YET'],
    ['포기', 'DONE'],
    ['중도 포기', 'DONE'],
    ['読み終わった', 'DONE'],
    ['読み終えた', 'DONE'],
    ['読んでいる', 'ING'],
    ['いま読んでる', 'ING'],
    ['読みたい本', 'YET'],
    ['挫折', 'DONE'],
    ['ToRead', 'YET'],
    ['CurrentlyReading', 'ING'],
    ['Did-Not-Finish', 'DONE'],
  ])('has the status %s', (Status, status) => {
    expect(readRow({ Title: 'A', Status })).toMatchObject({ status, losses: [] })
  })

  it('has the time of the addition', () => {
    expect(readRow({ Title: 'A', 'Date Added': '2026-03-14 10:20' })).toMatchObject({ addedAt: '2026-03-14T10:20:00' })
  })

  it.each([
    [{ shelf: 'top', 'Reading Status': 'Reading' }, { status: 'ING' }],
    [{ Status: 'owned', 'Read Status': 'Reading' }, { status: 'ING' }],
    [{ Categories: 'Fiction', Tags: 'sea' }, { tags: ['sea'] }],
    [{ Year: '2024', 'Year Published': '1999' }, { publishedYear: 1999 }],
    [{ Pages: '12', 'Total Pages': '312' }, { itemPage: 312 }],
    [{ Finished: 'yes', 'Finish Date': '2026-03-14' }, { readings: [{ finishedAt: '2026-03-14' }] }],
    [{ 'Year Read': '2026', 'Date Read': '2026-03-14' }, { readings: [{ finishedAt: '2026-03-14' }] }],
    [{ Rating: '4.1', 'My Rating': '3' }, { quarters: 12 }],
  ])('has the column of the more telling name, whichever comes first: %o', (cells, expected) => {
    for (const row of [cells, Object.fromEntries(Object.entries(cells).toReversed())]) {
      expect(readRow({ Title: 'A', ...row })).toMatchObject({ ...expected, losses: [] })
    }
  })

  it.each(['0', '0000000000000', '="0"'])('has no ISBN if it is %s', (ISBN) => {
    expect(readRow({ Title: 'A', ISBN })).toMatchObject({ isbn: null, losses: [] })
  })

  it.each([
    [
      'Bookshelf',
      { 'Book Id': '4711', ISBN: '', Bookshelf: 'Hall', 'Started Reading On': '2026-03-01' },
      {
        'Ended Reading On': '2026-03-14',
        'My Rating': '4.5',
        Title: 'A',
        'Page Count': '312',
        'Published At': '2019-05-01',
      },
    ],
    [
      'Book Tracker',
      { title: 'A', releaseDate: '2019-05-01', userRating: '4.5', pages: '312', bookcase: 'Hall', shelf: '2' },
      { tags: '', readingStatus: 'Read', startReading: '2026-03-01', endReading: '2026-03-14', location: '' },
    ],
  ])('may be of the app %s, which is no other service', (_, some, others) => {
    const [header, ...rows] = [Object.keys({ ...some, ...others }), Object.values({ ...some, ...others })]
    const { format, entries } = read([header, ...rows].map((cells) => cells.join(',')).join('\n'))
    expect(format).toBe('csv')
    expect(entries).toMatchObject([
      {
        ...{ title: 'A', sourceIds: [], publishedYear: 2019, itemPage: 312, status: 'DONE', quarters: 18, losses: [] },
        readings: [{ startedAt: '2026-03-01', finishedAt: '2026-03-14', outcome: 'FINISHED' }],
      },
    ])
  })

  it('says which title is left out if an ISBN is that of another book by the author', () => {
    const { entries } = read(
      [
        'Title,Author,ISBN',
        ...['Other Shore', 'Quiet Harbour', 'Quiet Harbour: Poems'].map((title) => `${title},Ana Reed,9780446675505`),
      ].join('\n'),
    )
    const loss = { code: 'duplicate-in-file', field: 'title' }
    expect(entries.map(({ failure, losses }) => [failure ?? null, losses])).toEqual([
      [null, []],
      ['duplicate-in-file', [loss]],
      ['duplicate-in-file', [loss]],
    ])
  })
})
