import { describe, expect, it } from 'vitest'
import { RECORDED, textOf } from '../../support/devices/recorded'
import { read, reasonOf } from '../../support/transfer/import-files'

const bodyOf = (client: string, address: string) =>
  RECORDED.filter(({ url }) => url.startsWith(address))
    .map((each) => each.client.startsWith(client) && textOf(each))
    .find(Boolean) || ''

const readItems = (...highlights: unknown[]) => read(JSON.stringify({ highlights })).entries
const item = (changes: object = {}) => ({ text: 'Salt.', title: 'Low Tide', author: 'Ana Ruiz', ...changes })
const memosOf = (...highlights: unknown[]) => readItems(...highlights)[0]?.memos
const AT = { highlighted_at: '2026-03-14T10:15:30+09:00' }

describe('what clients of Readwise’s API send', () => {
  it('has an entry for each book, with pages, times in UTC and notes', () => {
    const { format, entries } = read(bodyOf('Readest', '/readwise/api/v2/highlights'))
    expect(format).toBe('readwise-api')
    expect(entries).toMatchObject([
      {
        ...{ line: 1, title: expect.stringMatching(/^Device/), author: '한강', failure: null },
        cover: 'https://covers.example.com/c.jpg',
        losses: [{ code: 'not-supported', field: 'color' }],
      },
    ])
    expect(entries[0]?.memos).toMatchObject([
      { type: 'BOOK_CONTENT', content: expect.stringMatching(/^Readest 1.*\n\n생각$/s), page: 1 },
      { page: 2, createdAt: '2025-10-09T08:53:20' },
      { page: 3 },
    ])
  })

  it('has the same texts and keys as KOReader’s JSON', () => {
    const sent = read(bodyOf('KOReader', '/readwise/api/v2/highlights')).entries[0]?.memos
    const exported = read(bodyOf('KOReader', '/dav/export-json.json')).entries[0]?.memos
    expect(sent?.map(({ content, key }) => [content, key])).toEqual(exported?.map(({ content, key }) => [content, key]))
    expect(sent?.[0]?.key).toBe('#koreader 2025-10-09T08:53:20')
    expect(sent?.map(({ page }) => page)).toEqual([0, 0])
  })

  it('has no key if it has no time, as from Moon+ Reader', () => {
    const moon = { title: 'Low Tide', author: 'Ana Ruiz', chapter: 'One', text: 'Salt.', note: '' }
    expect(readItems(moon)).toMatchObject([{ title: 'Low Tide', losses: [], memos: [{ content: 'Salt.', page: 0 }] }])
    expect(memosOf(moon)?.[0]?.key).toBeUndefined()
  })
})

const READEST = 'https://web.readest.com/o/book/d047/annotation/n1'
it.each([
  ['the URL', { highlight_url: 'https://example.com/7', location: 3, ...AT }, '#readwise https://example.com/7'],
  ['Readest’s URL without the place', { highlight_url: `${READEST}?cfi=epubcfi(/6)`, ...AT }, `#readwise ${READEST}`],
  ['the time and location', { location: 3, ...AT }, '#readwise 2026-03-14T01:15:30 3'],
  [
    'the time and location, for a long URL',
    { highlight_url: `https://${'a'.repeat(200)}`, location: 3, ...AT },
    /\d 3$/,
  ],
  ['nothing, without a location', AT, undefined],
  ['nothing, without a time', { highlight_url: 'https://example.com/7' }, undefined],
])('identifies a highlight by %s', (_, fields, key) => {
  const found = memosOf(item(fields))?.[0]?.key
  if (key instanceof RegExp) expect(found).toMatch(key)
  else expect(found).toBe(key)
})

it('does not use a key that two highlights of a book share', () => {
  const shared = { ...AT, location: 3 }
  expect(memosOf(item(shared), item({ ...shared, text: 'Tide.' }))).toMatchObject([
    { key: undefined },
    { key: undefined },
  ])
})

it('fails what belongs to no book', () => {
  const article = item({ category: 'articles' })
  expect(
    readItems(article, article, item({ source_url: 'https://example.com' }), item({ category: 'books' })),
  ).toMatchObject([
    { line: 1, failure: 'not-supported', losses: [{ code: 'not-supported', field: 'category' }] },
    { line: 4, failure: null },
  ])
  expect(readItems({ text: 'Salt.' }, 7, item())).toMatchObject([
    { line: 1, failure: 'no-title' },
    { line: 3, failure: null },
    { line: 2, failure: 'bad-row' },
  ])
})

it('keeps a repeated text once, and HTML as it is', () => {
  const html = '<b>Salt</b><script>'
  expect(memosOf(item({ text: html }), item({ text: html }))).toMatchObject([{ content: html }])
})

it.each([
  ['an empty text', { text: ' ' }, { code: 'empty-highlight', field: 'highlight 1' }],
  ['a text that is no string', { text: { deep: [] } }, { code: 'empty-highlight', field: 'highlight 1' }],
  ['a bad date', { highlighted_at: 'yesterday' }, { code: 'bad-date', field: 'highlight 1' }],
  ['a cover that is no URL', { image_url: 'javascript:alert(1)' }, { code: 'not-supported', field: 'image_url' }],
  ['a long title', { title: 'a'.repeat(511) }, { code: 'too-long', field: 'title' }],
  ['a long text', { text: 'a'.repeat(65_536) }, { code: 'review-truncated', field: 'highlight 1' }],
])('lists %s as a loss', (_, fields, loss) => {
  expect(readItems(item(fields))).toMatchObject([{ failure: null, losses: [loss] }])
})

it.each([
  ['a number', 7],
  ['a list of numbers', [7]],
  ['an object', { text: 'Salt.' }],
])('refuses %s instead of highlights', (_, highlights) => {
  expect(reasonOf(JSON.stringify({ highlights }))).toMatch(/not in a known format/)
})

it('refuses more than 10,000 highlights', () => {
  const many = JSON.stringify({ highlights: Array.from({ length: 10_001 }, () => item()) })
  expect(reasonOf(many)).toMatch(/more than 10,000 highlights/)
})

it('drops what cannot be stored', () => {
  expect(memosOf(item({ text: 'a\0b\ud800c', note: '\udfff' }))).toMatchObject([{ content: 'ab\ufffdc\n\n\ufffd' }])
})
