import { describe, expect, it } from 'vitest'
import { type Reader, signUp } from '../../support/api'
import { unlimited } from '../../support/rate-limits'

const excerptOf = async (reader: Reader, memoContent: string, q: string) => {
  const { bookId } = await reader.createBook()
  await reader.createMemo(bookId, { memoContent })
  const path = `/memos/search?bookId=${bookId}&q=${encodeURIComponent(q)}`
  const answer = await reader.send('GET', path, { changed: { SEARCH_LIMIT: unlimited } })
  expect(answer.body.item).toHaveLength(1)
  return answer.body.item[0].excerpt as string
}

const lorem = (words: number, word = 'lorem') => `${word} `.repeat(words)
const graphemes = (text: string) => [...new Intl.Segmenter().segment(text)].length

describe('plain text', () => {
  it.each([
    ['<p>First.</p><p>Read <b>Dem</b>ian&nbsp;again</p>', 'again', 'First. Read Demian again'],
    ['one<br>two<br/>three', 'two', 'one two three'],
    ['<img src="https://library.example/images/1/a.png" alt="x">After it', 'after', 'After it'],
    ['Tom &amp; Jerry &lt;3 &#44032;', 'jerry', 'Tom & Jerry <3 가'],
    ['1 < 2 and 3 > 2, needle', 'needle', '1 < 2 and 3 > 2, needle'],
    ['a\n\n\tb  needle', 'needle', 'a b needle'],
    ['<p>Das ist <i>Straßen</i>bau</p>', 'STRASSEN', 'Das ist Straßenbau'],
  ])('shows %s', async (content, q, excerpt) => {
    expect(await excerptOf(await signUp(), content, q)).toBe(excerpt)
  })

  it.each([
    ['img src', '<p>Before</p><img src="https://x.example/y.png"><p>After</p>', 'Before After'],
    ['x.example', '<p>Before</p><img src="https://x.example/y.png"><p>After</p>', 'Before After'],
    ['&amp;', 'Tom &amp; Jerry', 'Tom & Jerry'],
    ['m</b>i', '<b>Dem</b>ian', 'Demian'],
    ['img src', '<img src="https://x.example/y.png">', ''],
  ])('finds %s in the markup, and shows the text next to it', async (q, content, excerpt) => {
    expect(await excerptOf(await signUp(), content, q)).toBe(excerpt)
  })
})

describe('a cut text', () => {
  it.each([
    ['at the start', `needle ${lorem(500)}`, /^needle lorem.*…$/],
    ['in the middle', `${lorem(500)}needle ${lorem(500)}`, /^….* needle .*…$/],
    ['at the end', `${lorem(500)}needle`, /^….*needle$/],
  ])('has about 160 characters and … where it is cut, with the match %s', async (_, content, pattern) => {
    const excerpt = await excerptOf(await signUp(), content, 'NEEDLE')
    expect(excerpt).toMatch(pattern)
    expect(excerpt.length).toBeGreaterThan(155)
    expect(excerpt.length).toBeLessThanOrEqual(162)
  })

  it('never begins or ends in a tag, an attribute or an entity', { tags: ['slow'] }, async () => {
    const reader = await signUp()
    // Each part is at a different offset of the cut.
    for (let offset = 0; offset < 40; offset++) {
      const tags = `<p class="quote" style="color: red"><a href="https://x.example/?a=1&amp;b=2">w&eacute;&nbsp;</a></p>`
      const content = `${tags.repeat(20)}${'x'.repeat(offset)} needle ${'y'.repeat(offset)}${tags.repeat(20)}`
      const excerpt = await excerptOf(reader, content, 'needle')
      expect(excerpt).toMatch(/^…[wéx ]*needle[wéy ]*…$/)
    }
  })

  it('never cuts a character', async () => {
    const reader = await signUp()
    for (const text of ['👩‍👩‍👧', 'é'.normalize('NFD'), '한'.normalize('NFD'), '😀', 'g̈']) {
      for (const pad of ['', 'a', 'ab', 'abc']) {
        const content = `${text.repeat(400)}${pad} needle ${pad}${text.repeat(400)}`
        const excerpt = await excerptOf(reader, content, 'needle')
        const rest = excerpt.replaceAll(text.normalize('NFC'), '')
        expect(rest, `${text} ${pad}`).toBe(`…${pad} needle ${pad}…`)
        expect(graphemes(excerpt)).toBeLessThanOrEqual(162)
      }
    }
  })
})

describe('a match whose position folding changes', () => {
  it.each([
    [
      'decomposed Hangul',
      `${lorem(2000, '한글 책갈피')}Needle 여기 ${lorem(3000, '한글')}`.normalize('NFD'),
      'needle 여기',
      'Needle 여기',
    ],
    ['ß', `${lorem(5000, 'Straße')}Hier ist es ${lorem(500, 'Straße')}`, 'HIER IST', 'Hier ist es'],
    ['İ', `${lorem(5000, 'İi')}Needle ${lorem(500)}`, 'needle', 'Needle'],
    // Too far from the estimate: the folded text is shown.
    ['uneven text', `${'ß'.repeat(20_000)}${lorem(3000)} Needle ${lorem(900)}`, 'needle', 'needle'],
    ['uneven text, the other way', `${lorem(3000)} Needle ${'ß'.repeat(20_000)}`, 'needle', 'needle'],
  ])('is in the excerpt: %s', async (_, content, q, match) => {
    const excerpt = await excerptOf(await signUp(), content, q)
    expect(excerpt).toContain(match)
    expect(graphemes(excerpt)).toBeLessThanOrEqual(162)
  })
})
