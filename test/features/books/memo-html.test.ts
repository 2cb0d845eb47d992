import { describe, expect, it } from 'vitest'
import { createMemoWriter } from '../../../src/library/link-views/memo-html'

const IMAGES = 'https://library.example.com/images/7/'
const show = (content: string) => createMemoWriter(IMAGES)(content)

describe('a memo without tags', () => {
  it('keeps its line breaks, and shows what looks like a comparison', async () => {
    const { html, text } = await show('Fish & chips\r\n\r\n1 < 2 &amp; 3 > 2')
    expect(html).toBe('<p>Fish &amp; chips<br><br>1 &lt; 2 &amp; 3 &gt; 2</p>')
    expect(text).toBe('Fish & chips\n\n1 < 2 & 3 > 2')
  })
})

describe('a memo with tags', () => {
  it.each([
    ['<p>“…<em>his</em>…”</p>', '<p>“…<em>his</em>…”</p>', '“…his…”'],
    ['<div>One</div>\n<div>Two</div>', '<p>One</p> <p>Two</p>', 'One\nTwo'],
    ['<h2>Title</h2>text<br>more', '<p>Title</p>text<br>more', 'Title\ntext\nmore'],
    ['<b>a<i>b</b>c</i>', '<strong>a<em>b</em></strong>c', 'abc'],
    ['<p>one<p>two', '<p>one</p><p>two</p>', 'one\ntwo'],
    ['<ul><li>a<li>b</ul>c', '<ul><li>a</li><li>b</li></ul>c', 'a\nb\nc'],
    ['<li>stray</li>', 'stray', 'stray'],
    ['<pre>a\n  b</pre>', '<pre>a\n  b</pre>', 'a\n  b'],
    ['<span class="x">a</span> <u>b</u>', 'a b', 'a b'],
    ['&lt;b&gt; caf&eacute; <i>R&amp;D</i>', '&lt;b&gt; café <em>R&amp;D</em>', '<b> café R&D'],
  ])('%s', async (content, html, text) => {
    expect(await show(content)).toEqual({ html, text })
  })

  it('has links to http and https, which search engines do not follow', async () => {
    const { html } = await show('<a href="https://example.com/?a=1&amp;b=2" onclick="x()" target="_top">a</a>')
    expect(html).toBe('<a href="https://example.com/?a=1&amp;b=2" rel="nofollow noopener">a</a>')
    for (const href of [
      'javascript:alert(1)',
      ' java\nscript:alert(1)',
      'data:text/html,x',
      '/books',
      '&#106;avascript:x',
    ])
      expect((await show(`<a href="${href}">a</a>`)).html, href).toBe('a')
    expect(
      (await show('<a href="https://a.test">a<a href="https://b.test">b</a></a>')).html.match(/<a /g),
    ).toHaveLength(1)
  })

  it("has the member's own images, and the labels of others", async () => {
    const own = `<img src="${IMAGES}a1-b2.png" alt="A &quot;page&quot;" onerror="x()">`
    expect((await show(own)).html).toBe(`<img src="${IMAGES}a1-b2.png" alt="A &quot;page&quot;" loading="lazy">`)
    for (const source of [
      'https://library.example.com/images/8/a.png',
      `${IMAGES}../8/a.png`,
      `${IMAGES}..`,
      `${IMAGES}a.png?x`,
      'https://elsewhere.example/a.png',
      'data:image/png;base64,AAAA',
    ])
      expect((await show(`<img src="${source}" alt="<b>label">`)).html, source).toBe('&lt;b&gt;label')
  })

  it.each([
    '<script>alert(1)</script>',
    '<style>*{}</style>',
    '<svg><script>alert(1)</script></svg>',
    '<select><style><img src=x onerror=alert(1)></style></select>',
    '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
    '<iframe srcdoc="<script>x</script>"></iframe>',
    '<p><textarea><img src=x onerror=alert(1)></textarea>',
    '<!--><img src=x onerror=alert(1)>-->',
    '<p id="x" style="position:fixed" class=y>a',
    '"><img src=x onerror=alert(1)>',
    '<plaintext><b>',
    '<object data=x><embed src=y><form action=z><input>',
    `${'<b>'.repeat(200)}deep`,
    `${'<ul><li>'.repeat(200)}deep`,
  ])('writes only known elements for %s', async (content) => {
    const { html } = await show(content)
    const open: string[] = []
    const tags = html.match(/<[^>]*>/g) ?? []
    for (const tag of tags) {
      expect(tag).toMatch(/^<\/?(?:p|strong|em|ul|ol|li|blockquote|pre|code|del|q|sub|sup)>$|^<br>$/)
      if (tag === '<br>') continue
      if (tag.startsWith('</')) expect(open.pop()).toBe(tag.replace('/', ''))
      else open.push(tag)
    }
    expect(open).toEqual([])
    expect(tags.length).toBeLessThanOrEqual(40)
  })
})

it('shows memos with too many tags as they are, at most 2,000 in one and 10,000 in a response', async () => {
  const write = createMemoWriter(IMAGES)
  expect((await write('<b>a</b>'.repeat(1001))).html).toMatch(/^<p>&lt;b&gt;a&lt;\/b&gt;/)
  const tags = '<b>a</b>'.repeat(1000)
  for (let n = 0; n < 5; n++) expect((await write(tags)).html).toMatch(/^<strong>/)
  expect((await write('<b>a</b>')).html).toBe('<p>&lt;b&gt;a&lt;/b&gt;</p>')
  // Not a tag.
  expect((await show('‹<3'.repeat(20_000))).html).toMatch(/^<p>‹&lt;3/)
})
