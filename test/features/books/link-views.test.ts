// What links show, in every form.

import { parseAtomFeed, parseJsonFeed } from 'feedsmith'
import ICAL from 'ical.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { createLinkSecret } from '../../../src/auth/access-token'
import type { LinkKind } from '../../../src/values/contract'
import { type Reader, send, signUp } from '../../support/api'
import { changeDatabase, insertReadings, measure, memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { eventually } from '../../support/runtime/clock'
import { insertLink } from '../../support/tokens'

let reader: Reader
beforeEach(async () => {
  reader = await signUp()
})

/** The last part of the address of a new link. */
const share = async (kind: LinkKind, link: object = {}): Promise<string> => {
  const { status, body } = await reader.post('/links', { name: 'Shown', kind, ...link })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.url.split('/').at(-1)
}
const show = (secret: string, rest = '', headers: Record<string, string> = {}) =>
  send('GET', `/l/${secret}${rest}`, { headers })
const itemsOf = async (secret: string, query = '') => (await show(secret, `.json${query}`)).body.item
const titlesOf = async (secret: string) => (await itemsOf(secret)).map(({ title }: { title: string }) => title)
const finish = (bookId: number, date: string) =>
  reader.patch(`/books/${bookId}`, { bookStatus: 'DONE', readEndDate: `${date}T21:00:00` })

/** Titles and texts that break out of what does not escape them. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '</title></text><img src=x onerror=alert(1)>&amp;"\'',
  ']]><!--',
  'a, b; c\\d\nBEGIN:VEVENT\r\nSUMMARY:x',
  `${'가나다라마'.repeat(99)}끝끝끝`,
  '\u202ereversed\u202c 👩‍👩‍👧‍👦 \u0001\u000b\ufffe\u{1f600}',
  'مئة عام من العزلة',
]

const importMemo = async (createdAt: string) => {
  const memos = [{ memoType: 'THOUGHT', memoContent: 'Old', memoBookPage: 1, memoAuthority: 'PRIVATE', createdAt }]
  const file = { format: 'reading-library', version: 1, books: [{ title: 'Imported', memos }] }
  const { status, body } = await reader.send('POST', '/imports', { body: file })
  expect(status, JSON.stringify(body)).toBe(202)
  const getImport = async () => (await reader.get(`/imports/${body.importId}`)).body
  await eventually(async () => expect(await getImport()).toMatchObject({ status: 'DONE', counts: { created: 1 } }))
}

describe.each(['UTC', 'Asia/Seoul', 'America/New_York'])(
  'in %s, the first and last years',
  { tags: ['slow'] },
  (zone) => {
    it.each(['0000-01-01', '0204-06-01', '1000-01-01', '9999-12-31'])(
      'that a date can have (%s) are shown',
      async (day) => {
        const { bookId } = await reader.createBook()
        await reader.send('PATCH', `/books/created-date/${bookId}`, { body: `${day}T12:00:00` })
        await importMemo(`${day}T12:00:00`)
        await reader.patch('/members/me', { timeZone: zone })
        const secret = await share('SHELF')
        for (const changed of [{ TIME_ZONE: zone }, {}]) {
          const { body } = await send('GET', `/l/${secret}.json`, { changed })
          expect((await reader.send('GET', '/stats', { changed })).status).toBe(200)
          expect(body.item[0].createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
          for (const form of ['.feed.json', '.atom', '']) {
            expect((await send('GET', `/l/${secret}${form}`, { changed })).status, form).toBe(200)
          }
        }
      },
    )
  },
)

describe('a shelf', () => {
  it('says that a book was stopped, and its rating in quarter stars', async () => {
    const books = [
      { title: 'Stopped', readings: [{ outcome: 'STOPPED', rating: 2.5 }] },
      { title: 'Finished', readings: [{ finishedAt: '2024-05-01', outcome: 'FINISHED', rating: 4.25 }] },
      { title: 'Unrated', readings: [{ outcome: 'STOPPED' }] },
    ]
    for (const {
      title,
      readings: [reading],
    } of books) {
      const { bookId } = await reader.createBook({ title })
      expect((await reader.patch(`/books/${bookId}`, { bookStatus: 'DONE' })).status).toBe(200)
      const { body } = await reader.get(`/books/${bookId}/readings`)
      const { status } = await reader.patch(`/readings/${body[0].readingId}`, reading)
      expect(status).toBe(200)
    }
    const secret = await share('SHELF')
    expect(await itemsOf(secret)).toMatchObject([
      { title: 'Unrated', outcome: 'STOPPED', rating: null },
      { title: 'Finished', outcome: 'FINISHED', rating: 4.25 },
      { title: 'Stopped', bookStatus: 'DONE', outcome: 'STOPPED', rating: 2.5 },
    ])
    const page = (await show(secret)).body
    expect(page).toContain('>Stopped · ★ 2.5 of 5<')
    expect(page).toContain('>Stopped<')
    expect(page).toContain('>Read · finished 2024-05-01 · ★ 4.25 of 5<')
    expect(await itemsOf(await share('SHELF', { bookStatus: 'DONE' }))).toMatchObject([{ rating: 4.25 }, {}, {}])
  })

  it('does not show the start of an earlier reading as that of the current one', async () => {
    const { bookId } = await reader.createBook()
    await reader.patch(`/books/${bookId}`, {
      bookStatus: 'DONE',
      readStartDate: '2019-01-01T10:00:00',
      readEndDate: '2020-05-01T10:00:00',
    })
    const secret = await share('SHELF')
    expect((await show(secret, '.json')).body.item[0]).toMatchObject({
      startedAt: '2019-01-01',
      finishedAt: '2020-05-01',
    })
    await reader.patch(`/books/${bookId}`, { bookStatus: 'ING' })
    expect((await show(secret, '.json')).body.item[0]).toMatchObject({ startedAt: null, finishedAt: '2020-05-01' })
    expect((await show(secret)).body).not.toContain('2019-01-01')
    await reader.patch(`/books/${bookId}`, { readStartDate: '2026-01-01T10:00:00' })
    expect((await show(secret, '.json')).body.item[0]).toMatchObject({ startedAt: '2026-01-01' })
  })

  it('shows books, newest registration first, without memos', async () => {
    const { bookId } = await reader.createBook({ title: 'One', author: 'Ann', cover: 'https://covers.example/1.jpg' })
    await reader.createMemo(bookId, { memoContent: 'Nobody sees this', memoAuthority: 'PUBLIC' })
    await reader.createBook({ title: 'Two', bookStatus: 'ING', readStartDate: '2026-01-02T10:00:00' })
    await finish(bookId, '2026-03-04')
    await reader.patch(`/books/${bookId}`, { star: 4 })
    const secret = await share('SHELF')
    const { body } = await show(secret, '.json')
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(body).toEqual({
      name: 'Shown',
      kind: 'SHELF',
      ownerName: null,
      item: [
        {
          bookId: bookId + 1,
          title: 'Two',
          author: null,
          cover: null,
          bookStatus: 'ING',
          outcome: null,
          rating: null,
          createdAt: time,
          startedAt: '2026-01-02',
          finishedAt: null,
        },
        {
          bookId,
          title: 'One',
          author: 'Ann',
          cover: 'https://covers.example/1.jpg',
          bookStatus: 'DONE',
          outcome: 'FINISHED',
          rating: 4,
          createdAt: time,
          startedAt: null,
          finishedAt: '2026-03-04',
        },
      ],
      next: null,
    })
    for (const suffix of ['', '.json', '.feed.json', '.atom']) {
      const { body: shown } = await show(secret, suffix)
      expect(JSON.stringify(shown)).toContain('One')
      expect(JSON.stringify(shown)).not.toContain('Nobody sees this')
    }
  })

  it('of finished books shows the last finished first', async () => {
    const ids = []
    for (const date of ['2026-03-01', '2026-05-01', '2026-04-01']) {
      const { bookId } = await reader.createBook({ title: date })
      await finish(bookId, date)
      ids.push(bookId)
    }
    await reader.createBook({ title: 'Unread' })
    expect(await titlesOf(await share('SHELF', { bookStatus: 'DONE' }))).toEqual([
      '2026-05-01',
      '2026-04-01',
      '2026-03-01',
    ])
    expect(await titlesOf(await share('SHELF', { bookStatus: 'YET' }))).toEqual(['Unread'])
  })

  it('of a status and a tag shows the books that have both', async () => {
    for (const [title, status, tags] of [
      ['Both', 'ING', ['Novel']],
      ['Status', 'ING', []],
      ['Tag', 'YET', ['Novel']],
    ] as const) {
      const { bookId } = await reader.createBook({ title, bookStatus: status })
      await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags } })
    }
    expect(await titlesOf(await share('SHELF', { bookStatus: 'ING', tag: 'novel' }))).toEqual(['Both'])
    expect(await titlesOf(await share('SHELF', { tag: 'Novel' }))).toEqual(['Tag', 'Both'])
  })

  it.each([
    ['https://library.example.com', ['https:']],
    ['http://localhost:8787', ['https:', 'http:']],
  ])('at %s shows covers that begin with %j, which its policy allows', async (base, schemes) => {
    for (const scheme of ['https:', 'http:']) await reader.createBook({ cover: `${scheme}//covers.example/1.jpg` })
    const path = `/l/${await share('SHELF')}`
    const { body, headers } = await send('GET', path, { changed: { PUBLIC_URL: base } })
    const covers = [...body.matchAll(/src="(.*?)\/\/covers.example/g)].map(([, scheme]) => scheme)
    expect(covers).toEqual(schemes.toReversed())
    expect(headers.get('Content-Security-Policy')).toContain(`img-src 'self' ${schemes.join(' ')};`)
  })

  it('is listed page by page, in JSON and as pages, without a book twice', async () => {
    for (let n = 0; n < 25; n++) await reader.createBook({ title: `Book ${n}` })
    const secret = await share('SHELF')
    const first = (await show(secret, '.json?size=10')).body
    const second = (await show(secret, `.json?size=10&cursor=${first.next}`)).body
    const third = (await show(secret, `.json?size=10&cursor=${second.next}`)).body
    const all = [first, second, third].flatMap(({ item }) => item.map(({ title }: { title: string }) => title))
    expect(new Set(all).size).toBe(25)
    expect(third.next).toBe(null)
    const { body: page } = await show(secret)
    const [, older = ''] = page.match(/rel="next" href="[^"?]*(\?cursor=[^"]+)"/) ?? []
    expect(page.match(/<li /g)).toHaveLength(20)
    const { body: last } = await show(secret, older)
    expect(last.match(/<li /g)).toHaveLength(5)
    expect(last).not.toContain('rel="next"')
  })

  it('refuses cursors of other links, and those that are made up', async () => {
    for (let n = 0; n < 3; n++) await reader.createBook({ title: `Book ${n}` })
    const [secret, other] = [await share('SHELF'), await share('SHELF')]
    const { next } = (await show(secret, '.json?size=1')).body
    expect((await show(secret, `.json?size=1&cursor=${next}`)).status).toBe(200)
    const plain = btoa(JSON.stringify({ sort: '-created', segment: 0, sortKey: null, bookId: 1 })).replace(/=+$/, '')
    for (const [link, cursor] of [
      [other, next],
      [secret, `${next.startsWith('A') ? 'B' : 'A'}${next.slice(1)}`],
      [secret, plain],
      [secret, 'x'],
    ]) {
      const { status, body } = await show(link, `.json?cursor=${cursor}`)
      expect([status, body.violationErrors?.[0].propertyPath]).toEqual([400, 'cursor'])
    }
  })
})

describe('memos', () => {
  it('are shown only while they are public', async () => {
    const { bookId } = await reader.createBook({ title: 'Demian', author: 'Hesse' })
    const create = async (memoContent: string, memoAuthority: string) =>
      (await reader.createMemo(bookId, { memoContent, memoAuthority, memoType: 'THOUGHT', memoBookPage: 7 })).memoId
    const [shown, hidden] = [await create('Everyone', 'PUBLIC'), await create('Only me', 'PRIVATE')]
    const secret = await share('MEMOS')
    const contentsOf = async () =>
      (await itemsOf(secret)).map(({ memoContent }: { memoContent: string }) => memoContent)
    expect(await itemsOf(secret)).toMatchObject([
      {
        memoId: shown,
        title: 'Demian',
        author: 'Hesse',
        memoType: 'THOUGHT',
        memoContent: 'Everyone',
        memoBookPage: 7,
      },
    ])
    await reader.patch(`/memos/${shown}`, { memoAuthority: 'PRIVATE' })
    expect(await contentsOf()).toEqual([])
    await reader.patch(`/memos/${hidden}`, { memoAuthority: 'PUBLIC' })
    expect(await contentsOf()).toEqual(['Only me'])
    await reader.delete(`/books/${bookId}`)
    expect(await contentsOf()).toEqual([])
  })

  it('of over a million characters are cut off after the memo that exceeds it, and go on', async () => {
    const { bookId } = await reader.createBook()
    for (let n = 0; n < 20; n++)
      await reader.createMemo(bookId, { memoContent: `${n}`.padEnd(65_535, 'x'), memoAuthority: 'PUBLIC' })
    const secret = await share('MEMOS')
    const first = (await show(secret, '.json')).body
    expect(first.item).toHaveLength(17)
    expect((await show(secret, `.json?cursor=${first.next}`)).body).toMatchObject({ item: { length: 3 }, next: null })
    expect(parseAtomFeed((await show(secret, '.atom')).body).entries).toHaveLength(17)
  })

  it('are dated in the time zone of the member', async () => {
    const { bookId } = await reader.createBook()
    const { memoId } = await reader.createMemo(bookId, { memoAuthority: 'PUBLIC' })
    await select(`update memos set createdAt = '2026-03-01T20:00:00' where memoId = ?`, memoId)
    await reader.patch('/members/me', { timeZone: 'Asia/Seoul' })
    const { body } = await show(await share('MEMOS'))
    expect(body).toContain('2026-03-02')
    expect(body).not.toContain('2026-03-01')
  })
})

describe('a calendar', () => {
  it('has every finished reading of a known day, latest first', async () => {
    const [once, twice] = [await reader.createBook({ title: 'Once' }), await reader.createBook({ title: 'Twice' })]
    await finish(once.bookId, '2026-02-28')
    for (const reading of [
      { startedAt: '2024-01-01', finishedAt: '2024-02-29', rating: 4.25 },
      { finishedAt: '2025-12' },
      { finishedAt: '2026-03-01', outcome: 'STOPPED' },
      { finishedAt: '2026-03-02' },
      { startedAt: '2026-03-03', paused: true },
    ])
      expect((await reader.post(`/books/${twice.bookId}/readings`, reading)).status).toBe(201)
    const secret = await share('CALENDAR')
    const expected = [
      ['Twice', '2026-03-02', null],
      ['Once', '2026-02-28', null],
      ['Twice', '2024-02-29', 4.25],
    ]
    const found = (await itemsOf(secret)).map((item: Record<string, unknown>) => [
      item.title,
      item.finishedAt,
      item.rating,
    ])
    expect(found).toEqual(expected)
    const events = new ICAL.Component(ICAL.parse((await show(secret, '.ics')).body)).getAllSubcomponents('vevent')
    expect(
      events
        .map((each) => new ICAL.Event(each))
        .map(({ summary, startDate }) => [summary, String(startDate), startDate.isDate]),
    ).toEqual(expected.map(([title, date]) => [title, date, true]))
  })

  it.each([1, 2, 3])(
    'is listed in pages of %i without a gap or a reading twice, whatever is between them',
    async (size) => {
      const { bookId } = await reader.createBook({ title: 'Often' })
      const days = Array.from({ length: 9 }, (_, n) => `2026-01-0${1 + (n % 5)}`)
      for (const [n, finishedAt] of days.entries())
        await reader.post(`/books/${bookId}/readings`, { finishedAt, outcome: n % 3 ? 'FINISHED' : 'STOPPED' })
      for (const date of ['2026-01-02', '2026-01-02', '2026-01-04', '2026-01-06']) {
        await finish((await reader.createBook({ title: 'Once' })).bookId, date)
      }
      const secret = await share('CALENDAR')
      const found: { readingId: number; finishedAt: string }[] = []
      for (let [next, pages]: [string | null, number] = ['', 0]; next !== null; pages++) {
        expect(pages).toBeLessThan(30)
        const { body } = await show(secret, `.json?size=${size}${next && `&cursor=${next}`}`)
        found.push(...body.item)
        next = body.next
      }
      expect(new Set(found.map(({ readingId }) => readingId)).size).toBe(10)
      const dates = found.map(({ finishedAt }) => finishedAt)
      expect(dates).toHaveLength(10)
      expect(dates).toEqual(dates.toSorted().toReversed())
    },
  )
})

describe('what a calendar does not show', () => {
  const stop = (bookId: number, finishedAt: string) =>
    reader.post(`/books/${bookId}/readings`, { finishedAt, outcome: 'STOPPED' })

  it('is not in its cursors either', async () => {
    const { bookId } = await reader.createBook({ title: 'Secret' })
    await stop(bookId, '2026-04-05')
    const titles = ['2026-05-01', '2026-03-01']
    for (const date of titles) await finish((await reader.createBook({ title: date })).bookId, date)
    const { body } = await show(await share('CALENDAR'), '.json?size=1')
    const bytes = Uint8Array.fromBase64(body.next, { alphabet: 'base64url' })
    expect(new TextDecoder('latin1').decode(bytes)).not.toMatch(/2026|T21|\d{4}/)
  })

  it('does not take up places in pages and feeds', async () => {
    await finish((await reader.createBook({ title: 'Finished' })).bookId, '2020-01-01')
    const { bookId } = await reader.createBook({ title: 'Stopped' })
    await insertReadings(bookId, 150)
    await select(`update readings set outcome = 'STOPPED' where bookId = ?`, bookId)
    await select(`update books set isStopped = 1, readEndDate = null where bookId = ?`, bookId)
    const secret = await share('CALENDAR')
    expect(parseAtomFeed((await show(secret, '.atom')).body).entries).toHaveLength(1)
    expect((await show(secret, '.json?size=1')).body.item).toMatchObject([{ title: 'Finished' }])
  })

  it('costs no more if many readings end on one day', async () => {
    const { bookId } = await reader.createBook({ title: 'Often' })
    await insertReadings(bookId, 150)
    await select(`update readings set finishedAt = '2026-01-01' where bookId = ?`, bookId)
    const secret = await share('CALENDAR')
    const { next } = (await show(secret, '.json?size=2')).body
    expect((await measure(() => show(secret, `.json?size=2&cursor=${next}`))).read).toBeLessThan(40)
  })
})

describe('every form', () => {
  const createHostile = async () => {
    for (const [n, title] of HOSTILE.entries()) {
      const { bookId } = await reader.createBook({ title, author: title, bookStatus: 'ING' })
      await finish(bookId, `2026-01-0${n + 1}`)
      await reader.createMemo(bookId, { memoContent: title, memoAuthority: 'PUBLIC' })
    }
  }
  const toLine = (text: string) =>
    text
      .replace(/(?!\s)\p{Cc}|\ufffe|[\u202a-\u202e]/gu, '')
      .replace(/\s+/g, ' ')
      .trim()

  it('can be read by third-party parsers when titles contain markup, separators, line breaks or emoji', async () => {
    await createHostile()
    const titles = HOSTILE.toReversed().map((title) => `${toLine(title)} – ${toLine(title)}`)
    for (const kind of ['SHELF', 'MEMOS', 'CALENDAR'] as const) {
      const secret = await share(kind, { name: HOSTILE[1] })
      const atom = parseAtomFeed((await show(secret, '.atom')).body)
      expect(atom.entries?.map(({ title }) => toLine(title?.value ?? ''))).toEqual(titles)
      expect(atom.title?.value).toBe(HOSTILE[1])
      const feed = parseJsonFeed(JSON.parse((await show(secret, '.feed.json')).body))
      expect(feed.items?.map(({ title }) => toLine(title ?? ''))).toEqual(titles)
      expect(new Set(feed.items?.map(({ id }) => id)).size).toBe(HOSTILE.length)
      expect(feed.items?.map(({ id }) => id)).toEqual(atom.entries?.map(({ id }) => id))
      const { body: page } = await show(secret)
      expect(page).not.toMatch(/<script|<img src=x|onerror=[^&"]*>/)
    }
    const { body: calendar } = await show(await share('CALENDAR', { name: HOSTILE[3] }), '.ics')
    const lines = calendar.split('\r\n')
    expect(lines.pop()).toBe('')
    const octets = lines.map((line: string) => new TextEncoder().encode(line).length)
    expect(Math.max(...octets)).toBe(75)
    const parsed = new ICAL.Component(ICAL.parse(calendar))
    const events = parsed.getAllSubcomponents('vevent').map((event) => new ICAL.Event(event))
    expect(events.map(({ summary }) => summary)).toEqual(
      HOSTILE.toReversed().map((title) => title.replace(/\r\n?/g, '\n').replace(/(?!\n)\p{Cc}|\ufffe/gu, '')),
    )
    // The parser does not know RFC 7986.
    const unescaped = String(parsed.getFirstPropertyValue('name')).replace(/\\(.)/g, (_, letter) =>
      letter === 'n' ? '\n' : letter,
    )
    expect(unescaped).toBe(HOSTILE[3]?.replace('\r\n', '\n'))
  })

  it('contains the name of the member only if the link shows it, and then the present one', async () => {
    const named: Record<string, string> = {
      '': '<p class="note">Shared by <bdi>Mina &lt;Kim&gt;</bdi></p>',
      '.json': '"ownerName":"Mina <Kim>"',
      '.feed.json': '"authors":[{"name":"Mina <Kim>"}]',
      '.atom': '<author><name>Mina &lt;Kim&gt;</name></author>',
      '.ics': '\r\nDESCRIPTION:Shared by Mina <Kim>\r\n',
    }
    const links: [LinkKind, string[], object?][] = [
      ['SHELF', ['', '.json', '.feed.json', '.atom']],
      ['MEMOS', ['', '.json', '.feed.json', '.atom']],
      ['CALENDAR', ['', '.json', '.feed.json', '.atom', '.ics']],
      ['YEAR', [''], { year: 2026 }],
    ]
    for (const [kind, suffixes, link] of links) {
      const [shown, hidden] = [await share(kind, { ...link, showName: true }), await share(kind, link)]
      await reader.patch('/members/me', { name: 'Mina <Kim>' })
      for (const suffix of suffixes) {
        const [text, without] = (await Promise.all([shown, hidden].map((secret) => show(secret, suffix)))).map(
          ({ body }) => (typeof body === 'string' ? body : JSON.stringify(body)),
        )
        expect(text, kind + suffix).toContain(named[suffix])
        expect(without, kind + suffix).not.toContain('Mina')
      }
    }
  })

  it('has no control characters of titles, authors, memos and names', async () => {
    const name = `\u001b[31mred\u0007 \u009b2J`
    const { bookId } = await reader.createBook({ title: name, author: name })
    await reader.createMemo(bookId, { memoContent: name, memoAuthority: 'PUBLIC' })
    await finish(bookId, '2026-01-01')
    await reader.patch('/members/me', { name })
    for (const [kind, suffixes, link] of [
      ['SHELF', ['', '.atom', '.feed.json']],
      ['MEMOS', ['', '.atom', '.feed.json']],
      ['CALENDAR', ['', '.atom', '.feed.json', '.ics']],
      ['YEAR', ['', '.svg'], { year: 2026 }],
    ] as const) {
      const secret = await share(kind, { name, showName: true, ...link })
      for (const suffix of suffixes) {
        const { body } = await show(secret, suffix)
        const text = typeof body === 'string' ? body : JSON.stringify(body)
        expect(text, kind + suffix).toContain('[31mred')
        expect(text, kind + suffix).not.toMatch(/(?!\s)\p{Cc}|\\u00/u)
      }
    }
  })

  it('has a strong ETag, and returns 304 until it changes', async () => {
    const { bookId } = await reader.createBook({ title: 'One' })
    await finish(bookId, '2026-01-01')
    const forms: [LinkKind, string[], object?][] = [
      ['SHELF', ['', '.json', '.feed.json', '.atom']],
      ['CALENDAR', ['', '.json', '.feed.json', '.atom', '.ics']],
      ['YEAR', ['', '.svg'], { year: 2026 }],
    ]
    const links = await Promise.all(
      forms.map(async ([kind, suffixes, link]) => [await share(kind, link), suffixes] as const),
    )
    const sent: [string, string, string][] = []
    for (const [secret, suffixes] of links) {
      for (const suffix of suffixes) {
        const { status, headers } = await show(secret, suffix)
        const etag = headers.get('ETag') ?? ''
        expect([status, headers.get('Cache-Control'), headers.get('X-Robots-Tag')]).toEqual([
          200,
          'private, no-cache',
          'noindex',
        ])
        expect(headers.get('X-D1-Bookmark')).toBe(null)
        expect(etag).toMatch(/^"[\w-]{43}"$/)
        for (const known of [etag, `W/${etag}`, `"a", ${etag}`]) {
          const again = await show(secret, suffix, { 'If-None-Match': known })
          expect(again).toMatchObject({ status: 304, body: null })
          // Browsers replace the headers of what they have stored.
          for (const name of ['ETag', 'Content-Security-Policy', 'Cross-Origin-Opener-Policy'])
            expect(again.headers.get(name)).toBe(headers.get(name))
        }
        sent.push([secret, suffix, etag])
      }
    }
    await finish(bookId, '2026-02-02')
    for (const [secret, suffix, etag] of sent) {
      const { status } = await show(secret, suffix, { 'If-None-Match': etag })
      expect(status, suffix).toBe(200)
    }
  })

  it('needs one call of the database', async () => {
    await createHostile()
    for (const [kind, suffix, link] of [
      ['SHELF', '', {}],
      ['SHELF', '.json', { bookStatus: 'DONE' }],
      ['MEMOS', '.atom', {}],
      ['CALENDAR', '.ics', {}],
      ['YEAR', '', { year: 2026 }],
      ['YEAR', '.svg', { year: 2026 }],
    ] as const) {
      const secret = await share(kind, link)
      // The first use also stores the day.
      await show(secret, suffix)
      expect((await measure(() => show(secret, suffix))).calls, kind + suffix).toBe(1)
    }
  })

  it('ignores a bookmark, so that no replica shows what was deleted', async () => {
    const secret = await share('SHELF')
    const bookmark = (await reader.get('/books')).headers.get('X-D1-Bookmark') ?? ''
    const opened: unknown[] = []
    const database = {
      withSession: (constraint: string) => {
        const session = memberDatabase().withSession(constraint)
        const batch = (statements: D1PreparedStatement[]) => {
          opened.push(constraint)
          return session.batch(statements)
        }
        return { prepare: session.prepare.bind(session), getBookmark: () => session.getBookmark(), batch }
      },
    } as unknown as D1Database
    const options = { headers: { 'X-D1-Bookmark': bookmark }, changed: changeDatabase(database) }
    expect((await send('GET', `/l/${secret}.json`, options)).status).toBe(200)
    expect(new Set(opened)).toEqual(new Set(['first-primary']))
  })
})

describe('a link that does not exist', () => {
  it('gets a page in browsers, and JSON for all others', async () => {
    const secret = createLinkSecret({ slot: memberSlot(), kind: 'SHELF', variant: 0 })
    const accept = (path: string, Accept: string) => send('GET', `/l/${path}`, { headers: { Accept } })
    for (const path of [secret, 'x']) {
      const { status, headers, body } = await accept(path, 'text/html,application/xhtml+xml,*/*;q=0.8')
      expect([status, headers.get('X-Error-Code'), headers.get('Cache-Control')]).toEqual([
        404,
        'LINK_NOT_FOUND',
        'no-store',
      ])
      expect(headers.get('Content-Type')).toBe('text/html; charset=utf-8')
      expect(headers.get('Content-Security-Policy')).toContain("style-src 'self'")
      expect(body).toContain('<h1>Link not found</h1>')
    }
    for (const [path, type] of [
      [secret, '*/*'],
      [`${secret}.json`, 'text/html'],
    ] as const)
      expect((await accept(path, type)).body).toMatchObject({ status: 404, message: expect.stringContaining('ended') })
  })
})

describe('the picture of a year', () => {
  it('is shown with a page that names its figures, in the theme of the address', async () => {
    const { bookId } = await reader.createBook({ title: 'One', itemPage: 321 })
    await finish(bookId, '2026-01-01')
    const secret = await share('YEAR', { year: 2026, name: 'My <year>' })
    const { body, headers } = await show(secret)
    expect(body).toContain('alt="2026 in books: 1 finished, 321 pages"')
    expect(body).toContain('<h1>My &lt;year&gt;</h1>')
    const [, script = ''] = body.match(/<script>([\s\S]*)<\/script>/) ?? []
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(script))
    expect(headers.get('Content-Security-Policy')).toContain(`script-src 'sha256-${new Uint8Array(digest).toBase64()}'`)
    const [light, dark] = [await show(secret, '.svg'), await show(secret, '.svg?theme=dark')]
    expect(light.body).toBe((await reader.get('/stats/year.svg?year=2026')).body)
    expect(dark.body).toBe((await reader.get('/stats/year.svg?year=2026&theme=dark')).body)
    const tall = await show(secret, '.svg?theme=dark&picture=page')
    expect(tall.body).toBe((await reader.get('/stats/year.svg?year=2026&theme=dark&size=page')).body)
    const { body: refused } = await show(secret, '.svg?picture=tall')
    expect(refused.violationErrors).toMatchObject([{ propertyPath: 'picture' }])
  })

  it('is followed by the finished books, by month, the unknown one last', async () => {
    for (const [title, author, finishedAt] of [
      ['Never shown', 'Nobody', '2025-12-31'],
      ['No month', null, '2026'],
      ['<b>Second</b>', 'Ann & Bob', '2026-03-02'],
      ['First', 'Ann', '2026-03-01'],
      ['Only a month', 'Bob', '2026-03'],
      ['Last', 'Bob', '2026-12-31'],
    ]) {
      const { bookId } = await reader.createBook({ title, author })
      const { status } = await reader.post(`/books/${bookId}/readings`, { finishedAt, rating: 4.5 })
      expect(status).toBe(201)
    }
    const { bookId } = await reader.createBook({ title: 'Given up' })
    await reader.post(`/books/${bookId}/readings`, { finishedAt: '2026-05-01', outcome: 'STOPPED' })
    const { body } = await show(await share('YEAR', { year: 2026 }))
    const main = body.slice(body.indexOf('<div class="months">'), body.indexOf('<script>'))
    const lines = main.replaceAll('\n', '').match(/(?<=<(?:h2|bdi)>).*?(?=<\/(?:h2|bdi)>)/g)
    expect(lines).toEqual([
      ...['March', 'Only a month', 'Bob', 'First', 'Ann', '&lt;b&gt;Second&lt;/b&gt;', 'Ann &amp; Bob'],
      ...['December', 'Last', 'Bob', 'Some time in 2026', 'No month'],
    ])
    // The picture shows the order and months of finishes, but no days; and only the best ratings.
    expect(main).not.toMatch(/2026-|4\.5/)
  })

  it('of over a thousand finishes lists as many as it draws', { tags: ['slow'] }, async () => {
    const { bookId } = await reader.createBook()
    await insertReadings(bookId, 1002)
    await select(`update readings set finishedAt = '2018-01-01' where bookId = ?`, bookId)
    const { body } = await show(await share('YEAR', { year: 2018 }))
    expect(body.match(/<h3>/g)).toHaveLength(1000)
    expect(body).toContain('The list ends after 1000 books.')
  })

  it('of a long year has a limit of its own', { tags: ['slow'] }, async () => {
    const { bookId } = await reader.createBook()
    await insertReadings(bookId, 1002)
    await select(`update readings set finishedAt = '2019' where bookId = ?`, bookId)
    const [one, other] = [await share('YEAR', { year: 2019 }), await share('YEAR', { year: 2019 })]
    const statuses = []
    for (let n = 0; n < 12; n++) statuses.push((await show(one, '.svg')).status)
    expect(statuses.slice(-4)).toEqual(Array(4).fill(429))
    for (let n = 0; n < 3; n++) expect((await show(other, '.svg')).status).toBe(200)
  })

  it('is of the year that the secret names', async () => {
    const database = memberDatabase()
    const secret = await insertLink(database, await memberIdOf(reader), {
      slot: memberSlot(),
      kind: 'YEAR',
      variant: 2020,
    })
    expect((await show(secret)).body).toContain('2020 in books: 0 finished')
  })
})
