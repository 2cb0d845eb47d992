import { beforeAll, describe, expect, it } from 'vitest'
import { type Reader, signUp } from '../../support/api'
import { unlimited } from '../../support/rate-limits'

const find = async (reader: Reader, kind: 'books' | 'memos', q: string) => {
  const path = `/${kind}/search?size=100&q=${encodeURIComponent(q)}`
  const answer = await reader.send('GET', path, { changed: { SEARCH_LIMIT: unlimited } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.item as Record<string, string>[]
}

const TITLES = {
  wizard: 'Wizard’s First Rule',
  wizards: 'The Wizards of Once',
  stranger: "L'Étranger",
  spider: 'Spider-Man',
  spiders: 'Man and the Spiders',
  catch: 'Catch‑22',
  quoted: '“Surely You’re Joking, Mr. Feynman!”',
  hash: '#GirlBoss',
  street: 'Unter der Straße',
  lodz: 'Łódź',
  kieu: 'Truyện Kiều',
  odyssey: 'Ὀδύσσεια',
  war: 'ВОЙНА И МИР',
  war2: 'Воин',
  tree: 'Ёлка',
  human: '소년이 온다',
  cat: '吾輩は猫である',
  demian: '데미안'.normalize('NFD'),
  kana: 'ガラスの鍵',
  hebrew: 'מִקְרָא',
  arabic: 'ألف ليلة وليلة',
  hindi: 'गोदान',
  emoji: '😀 Faces',
  percent: '100% of _nothing_',
}
type Title = keyof typeof TITLES

const QUERIES: [q: string, ...found: Title[]][] = [
  ["wizard's", 'wizard'],
  ['wizard’s', 'wizard'],
  ['WIZARD', 'wizard', 'wizards'],
  ['rule first', 'wizard'],
  ['first wizards'],
  ['etranger', 'stranger'],
  ['L’étranger', 'stranger'],
  ['ÉTRANGER'.normalize('NFD'), 'stranger'],
  ['spider man', 'spider', 'spiders'],
  ['spider-man', 'spider', 'spiders'],
  ['man spider', 'spider', 'spiders'],
  ['spiderman'],
  ['catch 22', 'catch'],
  ['catch-22', 'catch'],
  ['"surely', 'quoted'],
  ['“Surely', 'quoted'],
  ["you're", 'quoted'],
  ['feynman!"', 'quoted'],
  ['#girlboss', 'hash'],
  ['#boss'],
  ['first & wizard', 'wizard'],
  ['… surely', 'quoted'],
  ['STRASSE', 'street'],
  ['lodz', 'lodz'],
  ['truyen kieu', 'kieu'],
  ['οδυσσεια', 'odyssey'],
  ['ΟΔΎΣΣΕΙΑ', 'odyssey'],
  ['мир война', 'war'],
  ['воин', 'war2'],
  ['елка', 'tree'],
  ['온', 'human'],
  ['온다 소년', 'human'],
  ['소년 갔다'],
  ['猫', 'cat'],
  ['は', 'cat'],
  ['데', 'demian'],
  ['미안', 'demian'],
  ['ガ', 'kana'],
  ['カ'],
  ['מִקְרָא', 'hebrew'],
  ['ليلة ألف', 'arabic'],
  ['गोदान', 'hindi'],
  ['गदन'],
  ['😀 faces', 'emoji'],
  ['0%', 'percent'],
  ['_n', 'percent'],
  ['--'],
]

describe('words', () => {
  let reader: Reader
  beforeAll(async () => {
    reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'x', author: null, publisher: null })
    for (const title of Object.values(TITLES)) {
      await reader.createBook({ title, author: null, publisher: null })
      await reader.createMemo(bookId, { memoContent: title })
    }
  })

  it.each(QUERIES)('%s finds %s %s', async (q, ...found) => {
    const titles = found.map((title) => TITLES[title])
    expect((await find(reader, 'books', q)).map(({ title }) => title).toSorted()).toEqual(titles.toSorted())
    const excerpts = titles.map((title) => title.normalize('NFC'))
    expect((await find(reader, 'memos', q)).map(({ excerpt }) => excerpt).toSorted()).toEqual(excerpts.toSorted())
  })

  it('sorts titles by letters, whatever their marks and leading punctuation', async () => {
    const sorted = await signUp()
    const titles = [
      'Apple',
      '“Éclair”',
      'eclipse',
      'Émile',
      '¿Flor?',
      '...Gone',
      'Łódź',
      'Ñu',
      'ødeland',
      'Zorba',
      'ёлка',
      'ель',
    ]
    for (const title of titles.toReversed()) await sorted.createBook({ title, author: title })
    const titlesBy = async (sort: string) =>
      (await sorted.get(`/books?sort=${sort}`)).body.item.map(({ title }: { title: string }) => title)
    expect(await titlesBy('title')).toEqual(titles)
    expect(await titlesBy('-author')).toEqual(titles.toReversed())
    const authors = (await sorted.get('/authors')).body.item.map(({ author }: { author: string }) => author)
    expect(authors).toEqual(titles)
    expect((await sorted.get('/books?author=eclair%22')).body.item).toMatchObject([{ title: '“Éclair”' }])
  })
})

describe('a book', () => {
  it('is found by words of different fields, by its tags, and by its ISBN with and without hyphens', async () => {
    const reader = await signUp()
    await reader.createBook({ title: 'Other', isbn: '9780804429573' })
    const { bookId } = await reader.createBook({ title: 'Démian', author: 'Hermann Hesse', publisher: 'Éditions X' })
    await reader.patch(`/books/${bookId}/edition`, { subtitle: 'L’histoire', isbn: '978-89-374-6044-9' })
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['Bildungsroman', 'Été 2026'] } })
    const terms = ['hesse demian', "editions l'histoire", 'bildungs', 'ete 2026', 'demian ete']
    const isbns = ['9788937460449', '978-89-374-6044-9', '8937460440', '89-374-6044-0', '89374', '978 89374']
    for (const q of [...terms, ...isbns]) expect(await find(reader, 'books', q), q).toMatchObject([{ bookId }])
    for (const q of ['hesse zola', 'summer', '9788937460456']) expect(await find(reader, 'books', q), q).toEqual([])
    await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags: [] } })
    expect(await find(reader, 'books', 'bildungs')).toEqual([])
  })
})

describe('q', () => {
  const send = async (q: string) => (await signUp()).get(`/memos/search?q=${encodeURIComponent(q)}`)
  const words = (count: number) => Array.from({ length: count }, (_, n) => `a${n + 10}`).join(' ')

  it('may have 16 different words, repeated or not', async () => {
    for (const q of [words(16), `${words(16)} a10 A11`]) expect((await send(q)).status).toBe(200)
    const { status, body } = await send(words(17))
    expect(status).toBe(400)
    expect(body.violationErrors).toMatchObject([{ propertyPath: 'q', reason: 'must have at most 16 words' }])
  })

  it.each(['가', '猫', '々', 'あ', 'ア', '𠮷'])('may be one character: %s', async (q) => {
    expect((await send(q)).status).toBe(200)
  })

  it.each(['a', 'é', 'ж', '😀', '。', '-'])('may not be %s', async (q) => {
    const { status, body } = await send(q)
    expect(status).toBe(400)
    const reason = 'must be 2 to 100 characters long, or one Chinese, Japanese or Korean character'
    expect(body.violationErrors).toMatchObject([{ reason }])
  })
})
