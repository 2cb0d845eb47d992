import { describe, expect, it } from 'vitest'
import { parseDate } from '../../../src/transfer/reader/formats/highlights/clippings/dates'
import { containsOther } from '../../../src/transfer/reader/formats/highlights/clippings/merge-clippings'
import { kindle, koreaderClippings } from '../../../src/transfer/reader/formats/highlights/kindle'
import file from '../../fixtures/imports/kindle.txt?raw'
import languages from '../../fixtures/imports/kindle-languages.txt?raw'
import * as files from '../../support/transfer/import-files'

const source = (text: string) => files.sourceOf(text)
const read = (text: string) => kindle.read(source(text), files.NO_OPTIONS)
const clipping = (metadata: string, text: string, title = 'The Salt Archive (Mina Oh)') =>
  `${title}\n- ${metadata}\n\n${text}\n==========\n`
const highlight = (location: string, text: string) =>
  clipping(`Your Highlight on Location ${location} | Added on Tuesday, March 5, 2024 9:12:45 PM`, text)
const note = (location: string, text: string) =>
  clipping(`Your Note on Location ${location} | Added on Tuesday, March 5, 2024 9:13:45 PM`, text)
const contents = (text: string) => read(text)[0]?.memos.map(({ content }) => content)

describe('clippings of CrossInk, a firmware for small readers', () => {
  const clippings = [
    clipping('Your Highlight on Page 12', 'Without a chapter and a clock.'),
    clipping('Your Highlight on Page 12 | 3. Notes on Loc. 7', 'Salt keeps what the sea forgets.'),
    clipping('Your Highlight on Page 12 | 3. Notes on Loc. 7', 'Salt keeps'),
    clipping('Your Highlight on Page 40 | Bookmark 1984-1990 | Added on Saturday, March 14, 2026, 09:05 PM', 'Words.'),
  ]
  const memo = (page: number, content: string, createdAt: string | null = null) => ({
    type: 'BOOK_CONTENT',
    ...{ page, content, createdAt },
  })

  it('have the page, but no location in the name of a chapter, and may have no date', () => {
    expect(files.read(clippings.join(''))).toMatchObject({
      format: 'kindle',
      entries: [
        {
          ...{ title: 'The Salt Archive', author: 'Mina Oh', losses: [] },
          memos: [
            memo(12, 'Without a chapter and a clock.'),
            memo(12, 'Salt keeps what the sea forgets.'),
            memo(12, 'Salt keeps'),
            memo(40, 'Words.', '2026-03-14T21:05:00'),
          ],
        },
      ],
    })
  })

  it('are those of CrossPoint, too, in each of the forms that it has had', () => {
    const first = (title: string, place: string, text: string) => `${title}\n${place}\n\n"${text}"\n\n==========\n\n`
    const blocks = [
      first('Day / Night / Mina Oh', 'Chapter: 3. Notes | Page 12', 'He said "no".\n\nAnd left.'),
      first('Day / Night / Mina Oh', 'Page 3', 'Words.'),
      clipping('Highlight on Page 7 | Loc. and key', 'Others.', 'Day / Night (Mina Oh)'),
      clipping('Highlight on Page 8', 'More.', 'Day / Night (Mina Oh)'),
    ]
    const memos = [memo(12, 'He said "no".\n\nAnd left.'), memo(3, 'Words.'), memo(7, 'Others.'), memo(8, 'More.')]
    expect(files.read(blocks.join('')).entries).toMatchObject([
      { title: 'Day / Night', author: 'Mina Oh', losses: [], memos },
    ])
    for (const block of blocks) expect(files.read(block).format).toBe('kindle')
  })

  it('are recognized also if none has a chapter', () => {
    expect(files.read(clippings[0] ?? '').format).toBe('kindle')
  })
})

it('a highlight may be a resaltado, and named by a tool that replaced words of the device', () => {
  const date = 'Añadido el viernes, 3 de enero de 2025 14:25:13'
  const clippings = [
    clipping(`Tu resaltado en la posición 543 | ${date}`, 'A'),
    clipping(`Your Highlight on Location na página 26 | posição 346-347 | ${date}`, 'Words.'),
    clipping(`Your Highlight on Location na página 26 | posição 350-351 | ${date}`, 'Words.  And others'),
    clipping(`Sua nota na página 26 | posição 347 | ${date}`, 'Mine'),
  ]
  const ofPage = (page: number, content: string) => ({ type: 'BOOK_CONTENT', page, content })
  expect(read(clippings.join(''))).toMatchObject([
    { losses: [], memos: [ofPage(0, 'A'), ofPage(26, 'Words.\n\nMine'), ofPage(26, 'Words.  And others')] },
  ])
})

describe('a text that repeats', () => {
  // As a device in German writes it.
  const limit = '<Sie haben die maximale Anzahl an Clipboard-Einträgen für diesen Inhalt erreicht>'
  const many = (text: string, count: number) =>
    Array.from({ length: count }, (_, at) => highlight(`${at}00-${at}01`, text)).join('')

  it('is no highlight if it is the message of the limit in German', () => {
    const [entry] = read(many(limit, 3))
    expect(entry).toMatchObject({ memos: [], losses: [{ code: 'clipping-limit' }, {}, {}] })
  })

  it('is kept once if the book has it more than five times', () => {
    const [entry] = read(many('<An unknown message of the device>', 6))
    expect(entry?.memos).toHaveLength(1)
    expect(entry?.losses.map(({ code }) => code)).toEqual(Array(5).fill('repeated-text'))
    expect(contents(many('Again', 5))).toHaveLength(5)
  })
})

describe('a file in English', () => {
  const entries = read(file)

  it('has an entry for each book, with the line where it begins', () => {
    expect(entries.map(({ line, title, author }) => ({ line, title, author }))).toEqual([
      { line: 1, title: 'The Salt Archive (Harbour, #2)', author: 'Oh, Mina' },
      { line: 37, title: 'Quarterly Report.pdf', author: null },
      { line: 42, title: '題名 06 (Label)', author: 'Park, Joon (Translator)' },
      { line: 47, title: '(All in brackets)', author: null },
      { line: 52, title: 'A Lamp for the Tide', author: 'Ana Ruiz' },
    ])
  })

  it('has no status, rating, date, identifier or page count', () => {
    expect(entries[1]).toMatchObject({
      status: null,
      quarters: null,
      addedAt: null,
      readings: [],
      sourceIds: [],
      itemPage: null,
      currentPage: null,
      failure: null,
      cells: { names: [], values: [] },
    })
  })

  it('keeps the highlights and notes of a book in their order', () => {
    expect(entries[0]?.memos).toEqual([
      { type: 'BOOK_CONTENT', content: 'Salt keeps what the sea forgets.', page: 12, createdAt: '2019-02-10T08:29:24' },
      { type: 'THOUGHT', content: 'Compare with chapter two.', page: 0, createdAt: '2016-08-15T23:44:11' },
      {
        type: 'BOOK_CONTENT',
        content: 'The first shelf was empty.\nSo was the second.',
        page: 0,
        createdAt: '2012-05-15T22:01:00',
      },
      { type: 'BOOK_CONTENT', content: 'To those who kept the keys.', page: 0, createdAt: '2013-11-27T00:10:25' },
      { type: 'BOOK_CONTENT', content: 'A page without a location.', page: 31, createdAt: '2013-11-27T12:10:25' },
      { type: 'BOOK_CONTENT', content: 'An article in a magazine.', page: 0, createdAt: '2019-02-10T08:32:00' },
    ])
    expect(entries[2]?.memos[0]?.createdAt).toBe('2013-11-19T13:23:50')
  })

  it('keeps two highlights of a page, of which one contains the other', () => {
    expect(entries[1]?.memos.map(({ content, page }) => [content, page])).toEqual([
      ['Figures of the quarter.', 3],
      ['Figures of the quarter. All of them.', 3],
    ])
    expect(entries[1]?.losses).toEqual([])
  })

  it('lists a bookmark without text as a loss', () => {
    expect(entries[0]?.losses).toEqual([{ code: 'bookmark', field: 'location 201' }])
  })

  it('keeps the last version of an edited highlight, and adds a note to the highlight around it', () => {
    expect(entries[4]?.memos).toEqual([
      {
        type: 'BOOK_CONTENT',
        content: 'Someone must keep the light.\n\nWho keeps it now?',
        page: 7,
        createdAt: '2026-03-01T07:09:00',
      },
      {
        type: 'BOOK_CONTENT',
        content: 'The lamp was lit before the tide.',
        page: 4,
        createdAt: '2026-03-01T07:20:00',
      },
    ])
    expect(entries[4]?.losses).toEqual([
      { code: 'clipping-limit', field: 'location 80-81' },
      { code: 'empty-highlight', field: 'location 90-91' },
      { code: 'replaced-highlight', field: 'location 40-41' },
    ])
  })

  it('is recognized with a byte order mark and CRLF, as Kindle writes it', () => {
    expect(file.startsWith('\ufeff')).toBe(true)
    expect(files.read(file.replaceAll('\n', '\r\n'))).toMatchObject({ format: 'kindle', encoding: 'utf-8', entries })
  })

  it.each(['\r\n', '\r'])('has the same entries with %j as line ends', (end) => {
    expect(read(file.replaceAll('\n', end))).toEqual(entries)
  })
})

it('ignores byte order marks and NUL anywhere', () => {
  const text = highlight('1-2', 'x') + highlight('3-4', 'y')
  expect(read(text.replaceAll('=====\n', '=====\uFEFF\n').replaceAll('Salt', 'S\uFEFFa\0lt'))).toEqual(read(text))
})

const languageEntries = read(languages)

describe('a file with eleven known languages in turn', () => {
  const entries = languageEntries

  it.each(['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'ru', 'zh', 'ja', 'ko'])('is read in %s', (language) => {
    const entry = entries.find(({ title }) => title === `Book ${language}`)
    const createdAt = '2024-03-05T21:12:45'
    expect(entry?.memos).toEqual([
      { type: 'BOOK_CONTENT', content: 'Words of the book.', page: 7, createdAt },
      { type: 'THOUGHT', content: 'My own thought.', page: 7, createdAt },
    ])
    expect(entry?.losses).toEqual([{ code: 'bookmark', field: 'location 130' }])
  })

  it('has times before noon in Chinese, and full-width bars in Japanese', () => {
    expect(entries.slice(11, 13).map(({ memos }) => memos)).toEqual([
      [{ type: 'BOOK_CONTENT', content: 'Words of the book.', page: 0, createdAt: '2019-09-30T09:12:45' }],
      [{ type: 'BOOK_CONTENT', content: 'Words of the book.', page: 7, createdAt: '2017-08-28T00:51:55' }],
    ])
  })

  it('has one entry for each book', () => {
    expect(entries).toHaveLength(14)
    expect(kindle.matches(source(languages))).toBe(true)
  })
})

describe('an unknown language', () => {
  it('reads a single number as the page and a range as the location', () => {
    const entry = languageEntries.at(-1)
    expect(entry?.title).toBe('Book fi')
    expect(entry?.memos).toEqual([{ type: 'BOOK_CONTENT', content: 'Sanoja.', page: 12, createdAt: null }])
    expect(entry?.losses).toEqual([{ code: 'bad-date', field: 'location 170-172' }])
  })

  it('reads a text at a single location as a note', () => {
    const [entry] = read(clipping('Muistiinpano sivulla 12 | Sijainti 170 | 2024-03-05 21:12:45', 'Ajatus.'))
    expect(entry?.memos).toEqual([{ type: 'THOUGHT', content: 'Ajatus.', page: 12, createdAt: '2024-03-05T21:12:45' }])
  })

  it('reads an empty text as a bookmark', () => {
    expect(read(clipping('Kirjanmerkki sivulla 12 | Lisätty', ''))[0]?.losses).toEqual([
      { code: 'bookmark', field: 'line 1' },
    ])
  })
})

describe('dates', () => {
  it.each([
    ['Added on Friday, February 30, 2024 9:12:45 PM', null],
    ['Added on Thursday, February 29, 2024 12:00:01 AM', '2024-02-29T00:00:01'],
    ['Added on Thursday, February 29, 2024 12:00:01 PM', '2024-02-29T12:00:01'],
    ['Added on Thursday, February 29, 2024 25:00:01', null],
    ['Hinzugefügt am Montag, 1. Januar 2024 12:59:59', '2024-01-01T12:59:59'],
    ['添加于 2019年9月30日星期一 上午12:12:45', '2019-09-30T00:12:45'],
    ['添加于 2019年9月30日星期一 下午12:12:45', '2019-09-30T12:12:45'],
    ['2013年8月5日 星期一 上午09时11分28秒 GMT+08:00', '2013-08-05T09:11:28'],
    ['추가됨: 2024년 3월 5일 화요일 오전 9:12:45', '2024-03-05T09:12:45'],
    ['Ajouté le jeudi 1 août 2024 07:00:00'.normalize('NFD'), '2024-08-01T07:00:00'],
    ['Added on 03/05/2024 09:12:45', null],
    ['Added on March 5, 2024', '2024-03-05T00:00:00'],
    ['Added on Monday, 3 December 12 19:51:33 Greenwich Mean Time', '2012-12-03T19:51:33'],
    ['Hinzugefügt am Donnerstag, 1. Juli 2021 4.45 Uhr GMT+07:29', '2021-07-01T04:45:00'],
    ['', null],
  ])('reads %s', (text, date) => {
    expect(parseDate(text)).toBe(date)
  })
})

describe('edited highlights', () => {
  it('keeps the later of two with the same start if one text contains the other', () => {
    const text = highlight('10-12', 'The sea') + highlight('30-31', 'Between') + highlight('10-14', 'By The sea again')
    const [entry] = read(text)
    expect(entry?.memos.map(({ content }) => content)).toEqual(['Between', 'By The sea again'])
    expect(entry?.losses).toEqual([{ code: 'replaced-highlight', field: 'location 10-12' }])
  })

  it('keeps the later one if it is shorter', () => {
    expect(contents(highlight('10-14', 'By the sea again') + highlight('10-12', 'the sea'))).toEqual(['the sea'])
  })

  it('replaces an earlier version before another highlight with the same start', () => {
    const text = highlight('10-12', 'ab') + highlight('10-12', 'xy') + highlight('10-13', 'abc')
    expect(contents(text)).toEqual(['xy', 'abc'])
  })

  it('keeps highlights with different texts, starts or books, and notes on highlights', () => {
    expect(contents(highlight('10-12', 'aab') + highlight('10-12', 'aba'))).toHaveLength(2)
    expect(contents(highlight('10-12', 'ab') + highlight('11-12', 'abc'))).toHaveLength(2)
    expect(read(highlight('10-12', 'ab') + highlight('10-13', 'abc').replace('Salt', 'Sand'))).toHaveLength(2)
    expect(contents(highlight('10-12', 'ab') + note('10', 'ab'))).toEqual(['ab\n\nab'])
  })

  it('merges none because of the page alone', () => {
    const onPage = (text: string) => clipping('Your Highlight on page 3 | Added on March 5, 2024 9:12:45 PM', text)
    expect(contents(onPage('ab') + onPage('abc'))).toEqual(['ab', 'abc'])
    const onPages = (text: string) => onPage(text).replace('page 3', 'page 3-4')
    expect(contents(onPages('ab') + onPages('abc'))).toEqual(['ab', 'abc'])
  })
})

it('containsOther gives the same result as `includes`', () => {
  const texts = (length: number) => Array.from({ length: 2 ** length }, (_, at) => at.toString(2).padStart(length, '0'))
  for (const short of [...texts(1), ...texts(4), ...texts(7)]) {
    const differing = texts(10).filter((long) => containsOther(long, short) !== long.includes(short))
    expect(differing).toEqual([])
  }
})

describe('notes', () => {
  it('belong to a highlight that starts at their location and follows them', () => {
    expect(contents(note('10', 'Why?') + highlight('10-12', 'The sea'))).toEqual(['The sea\n\nWhy?'])
  })

  it('are appended to the highlight whose range contains their location', () => {
    const text =
      note('11', 'Why?') + highlight('10-12', 'The sea') + highlight('20-22', 'The salt') + note('12', 'How?')
    expect(read(text)[0]?.memos).toEqual([
      { type: 'BOOK_CONTENT', content: 'The sea\n\nWhy?\n\nHow?', page: 0, createdAt: '2024-03-05T21:12:45' },
      { type: 'BOOK_CONTENT', content: 'The salt', page: 0, createdAt: '2024-03-05T21:12:45' },
    ])
  })

  it('belong to the highlight that starts last, or to none outside all ranges', () => {
    const text =
      highlight('10-50', 'Long') + highlight('11-12', 'Short') + note('13', 'A') + note('12', 'B') + note('51', 'C')
    expect(contents(text)).toEqual(['Long\n\nA', 'Short\n\nB', 'C'])
  })

  it('keep only the last version of an edited note', () => {
    expect(contents(highlight('10-12', 'The sea') + note('12', 'Why') + note('12', 'Why not?'))).toEqual([
      'The sea\n\nWhy not?',
    ])
  })

  it.each(['145-46', '144 t/m 146'])('belong to a highlight with the range %s', (range) => {
    expect(contents(highlight(range, 'The sea') + note('146', 'Why?'))).toEqual(['The sea\n\nWhy?'])
  })
})

describe('blocks without a memo', () => {
  it('lists empty highlights and clipping limits as losses', () => {
    const limit = '<You have reached the clipping limit for this item>'
    const text = highlight('1-2', '') + highlight('3-4', ` ${limit}`) + highlight('5-6', `Half a sen ${limit}`)
    const [entry] = read(
      text + highlight('7-8', '<このアイテムのクリップの上限に達しました>') + highlight('9-9', 'a <b>'),
    )
    expect(entry?.memos.map(({ content }) => content)).toEqual(['Half a sen', 'a <b>'])
    expect(entry?.losses).toEqual([
      { code: 'empty-highlight', field: 'location 1-2' },
      { code: 'clipping-limit', field: 'location 3-4' },
      { code: 'clipping-limit', field: 'location 5-6' },
      { code: 'clipping-limit', field: 'location 7-8' },
    ])
  })

  it('keeps a bookmark with a note as a thought', () => {
    const [entry] = read(clipping('Your Bookmark on page 3 | Added on March 5, 2024 9:12:45 PM', 'Go on here.'))
    expect(entry?.memos).toMatchObject([{ type: 'THOUGHT', content: 'Go on here.', page: 3 }])
  })

  it('reports blocks that are not clippings, and clippings without a book', () => {
    const untitled = '- Your Highlight on page 3 | Added on March 5, 2024 9:12:45 PM\n\n— Who is there?\n==========\n'
    const entries = read(`end of a cut text\n— Who is there?\n==========\n${untitled}${highlight('1-2', 'x')}rest`)
    expect(entries).toMatchObject([
      { line: 4, title: null, failure: 'no-title', memos: [{ content: '— Who is there?' }] },
      { line: 8, title: 'The Salt Archive', failure: null, losses: [] },
      {
        line: 1,
        failure: 'bad-row',
        losses: [
          { code: 'bad-row', field: 'line 1' },
          { code: 'bad-row', field: 'line 13' },
        ],
      },
    ])
  })

  it('cuts a memo between characters', () => {
    const [entry] = read(highlight('1-2', '😀'.repeat(65_536)) + highlight('3-4', '😀'.repeat(32_768)))
    expect(entry?.memos.map(({ content }) => content.length)).toEqual([65_534, 65_534])
    expect(entry?.memos[0]?.content.isWellFormed()).toBe(true)
    expect(entry?.losses).toEqual([
      { code: 'review-truncated', field: 'location 1-2' },
      { code: 'review-truncated', field: 'location 3-4' },
    ])
  })
})

describe('detection', () => {
  it('needs a separator and a line of metadata', () => {
    expect(kindle.matches(source(file))).toBe(true)
    expect(kindle.matches(source(languages.replaceAll('\n', '\r\n')))).toBe(true)
    expect(koreaderClippings.matches(source(file))).toBe(false)
    for (const text of [
      '',
      '==========\n'.repeat(3),
      'Title,Author\nDemian,Hermann',
      'Lists\n==========\n- one 1\n- two 2\n',
    ]) {
      expect(kindle.matches(source(text))).toBe(false)
    }
    expect(kindle.matches({ ...source(file), json: {} })).toBe(false)
  })
})

describe('hostile files', () => {
  it('reads a file that is cut anywhere', () => {
    for (let end = 0; end < file.length; end += 7) {
      read(file.slice(0, end))
      read(file.slice(end))
    }
  })

  const blocks = (count: number) =>
    Array.from({ length: 0.6 * count }, (_, at) => highlight(`${at}-${at + 9}`, `Text ${at}`)).join('') +
    Array.from({ length: 0.4 * count }, (_, at) => note(`${at}`, `Note ${at}`)).join('')

  it('reads 100,000 blocks, and reports where the rest begins', { tags: ['slow'] }, () => {
    const entries = read(blocks(100_000) + highlight('1', 'One too many'))
    expect(entries[0]?.memos).toHaveLength(60_000)
    expect(entries[1]).toMatchObject({ failure: 'too-many', losses: [{ code: 'too-many', field: 'line 500001' }] })
  })
})
