// Random states of two members, each with links of all kinds. What a link shows must equal a plain model, in every form: the model knows
// who may see what; the values of books and readings are those that the owner reads.
import assert from 'node:assert/strict'
import { parseAtomFeed, parseJsonFeed } from 'feedsmith'
import ICAL from 'ical.js'
import { BOOK_STATUSES, type LinkKind } from '../../../src/values/contract.ts'
import { createRandom } from '../stats/random-library.ts'

export type Answer = { status: number; headers: Headers; text: string }
export type Send = (method: string, path: string, options?: { token?: string; body?: unknown }) => Promise<Answer>

type Tag = { name: string }
type Memo = { memoId: number; content: string; isPublic: boolean }
type Book = { bookId: number; title: string; tags: Set<Tag>; memos: Map<number, Memo> }
type Status = (typeof BOOK_STATUSES)[number]
type Link = { kind: LinkKind; url: string; linkId: string; status?: Status; tag?: Tag; year?: number }
type Member = {
  token: string
  number: number
  isWithdrawn: boolean
  books: Map<number, Book>
  links: Set<Link>
  ended: Link[]
}

const SUFFIXES: Record<LinkKind, string[]> = {
  SHELF: ['', '.json', '.feed.json', '.atom'],
  MEMOS: ['', '.json', '.feed.json', '.atom'],
  CALENDAR: ['', '.json', '.feed.json', '.atom', '.ics'],
  YEAR: ['', '.svg'],
}
const TAGS = ['Novel', 'Essay', 'Poem']
const YEAR = 2026
/** In every text that a member writes, so that none is overlooked. */
const MARK = /mark-\d+-\d+-end/g

// biome-ignore lint/suspicious/noExplicitAny: the document is checked elsewhere
const toJson = ({ text }: Answer): any => JSON.parse(text)
const byKey = (name: string) => name.toLowerCase()

type Random = ReturnType<typeof createRandom>

/** A member, and random changes to it. `send` must not throw on an error status. */
const createMember = (send: Send, token: string, number: number, { pick, below }: Random) => {
  const member: Member = { token, number, isWithdrawn: false, books: new Map(), links: new Set(), ended: [] }
  let marks = 0
  const mark = () => `mark-${number}-${++marks}-end`
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await send(method, path, { token, body })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.text ? toJson(answer) : undefined
  }
  const date = () => `${pick([2025, 2026])}-0${1 + below(9)}-1${below(10)}`
  const end = (link: Link) => {
    member.links.delete(link)
    member.ended.push(link)
  }
  const endLinksBy = (tag: Tag) => {
    for (const link of member.links) if (link.tag === tag) end(link)
  }
  /** A tag lives as long as a book has it or a link shows it. */
  const tags = () => {
    const ofBooks = [...member.books.values()].flatMap((book) => [...book.tags])
    return new Set([...ofBooks, ...[...member.links].flatMap(({ tag }) => tag ?? [])])
  }
  const findTag = (name: string) => [...tags()].find((tag) => byKey(tag.name) === byKey(name))
  const withBook = (use: (book: Book) => Promise<void>) => async () => {
    const book = pick([...member.books.values()])
    if (book) await use(book)
  }
  const withMemo = (use: (book: Book, memo: Memo) => Promise<void>) =>
    withBook(async (book) => {
      const memo = pick([...book.memos.values()])
      if (memo) await use(book, memo)
    })
  const createBook = async () => {
    const title = `<b>&"${mark()}; a, b\\n</b>`
    const status = pick(BOOK_STATUSES)
    const dates = status === 'DONE' ? { readEndDate: pick([null, `${date()}T10:00:00`]) } : {}
    const { bookId } = await ask('POST', '/books', {
      title,
      author: pick([null, mark()]),
      bookStatus: status,
      ...dates,
    })
    member.books.set(bookId, { bookId, title, tags: new Set(), memos: new Map() })
  }
  const changes: (() => Promise<void>)[] = [
    createBook,
    createBook,
    withBook(async ({ bookId }) => {
      const status = pick(BOOK_STATUSES)
      const end = status === 'DONE' ? { readEndDate: `${date()}T10:00:00` } : {}
      await ask('PATCH', `/books/${bookId}`, { bookStatus: status, star: below(6), ...end })
    }),
    withBook(async ({ bookId }) => {
      const outcome = pick(['FINISHED', 'STOPPED'])
      const finishedAt = pick([date(), date(), '2026', '2026-05'])
      await ask('POST', `/books/${bookId}/readings`, { finishedAt, outcome, rating: pick([null, 0.25, 4.25]) })
    }),
    withBook(async ({ bookId }) => {
      await ask('DELETE', `/books/${bookId}`)
      member.books.delete(bookId)
    }),
    withBook(async (book) => {
      const names = TAGS.filter(() => below(2) === 0)
      await ask('PUT', `/books/${book.bookId}/tags`, { tags: names })
      book.tags = new Set(names.map((name) => findTag(name) ?? { name }))
    }),
    ...[1, 2].map(() =>
      withBook(async ({ bookId, memos }) => {
        const memo = { content: `<i>${mark()}</i>\nline`, isPublic: below(2) === 0 }
        const body = { memoBookPage: 1, memoContent: memo.content, memoAuthority: memo.isPublic ? 'PUBLIC' : 'PRIVATE' }
        const { memoId } = await ask('POST', `/memos?bookId=${bookId}`, body)
        memos.set(memoId, { memoId, ...memo })
      }),
    ),
    withMemo(async (_, memo) => {
      memo.isPublic = !memo.isPublic
      await ask('PATCH', `/memos/${memo.memoId}`, { memoAuthority: memo.isPublic ? 'PUBLIC' : 'PRIVATE' })
    }),
    withMemo(async ({ memos }, { memoId }) => {
      await ask('DELETE', `/memos/${memoId}`)
      memos.delete(memoId)
    }),
    async () => {
      const [from, to] = [pick([...tags()]), pick(TAGS)]
      if (!from) return
      const target = findTag(to)
      await ask('PATCH', '/tags', { from: from.name, to })
      if (!target || target === from) {
        from.name = to
        return
      }
      endLinksBy(from)
      for (const book of member.books.values()) if (book.tags.delete(from)) book.tags.add(target)
    },
    async () => {
      const tag = pick([...tags()])
      if (!tag) return
      await ask('DELETE', `/tags?tag=${tag.name}`)
      endLinksBy(tag)
      for (const book of member.books.values()) book.tags.delete(tag)
    },
    ...[1, 2, 3].map(() => async () => {
      const kind = pick(['SHELF', 'SHELF', 'MEMOS', 'CALENDAR', 'YEAR'] as const)
      const status = kind === 'SHELF' ? pick([undefined, ...BOOK_STATUSES]) : undefined
      const tag = kind === 'SHELF' ? pick([undefined, ...tags()]) : undefined
      const year = kind === 'YEAR' ? YEAR : undefined
      const created = await ask('POST', '/links', { name: 'Shown', kind, bookStatus: status, tag: tag?.name, year })
      const { linkId, url } = created
      member.links.add({
        kind,
        linkId,
        url: new URL(url).pathname,
        ...(status && { status }),
        ...(tag && { tag }),
        ...(year && { year }),
      })
    }),
    async () => {
      const link = pick([...member.links])
      if (!link) return
      await ask('DELETE', `/links/${link.linkId}`)
      end(link)
    },
  ]
  const withdraw = async () => {
    await ask('DELETE', '/members/me')
    member.isWithdrawn = true
    for (const link of member.links) end(link)
  }
  const makeChange = async () => {
    if (!member.isWithdrawn) await pick(changes)()
  }
  return { member, ask, withdraw, makeChange }
}
type Subject = ReturnType<typeof createMember>

/** What a link must show, in order, as its titles and what distinguishes its items. Readings of one day have no order. */
const expectItems = async ({ member, ask }: Subject, { kind, status, tag }: Link) => {
  const books = [...member.books.values()]
  if (kind === 'MEMOS')
    return books
      .flatMap(({ title, memos }) => [...memos.values()].map((memo) => ({ ...memo, title })))
      .filter(({ isPublic }) => isPublic)
      .sort((one, other) => other.memoId - one.memoId)
      .map(({ memoId, title, content }) => ({ memoId, title, memoContent: content }))
  if (kind === 'CALENDAR') {
    const readings = await Promise.all(
      books.map(async ({ bookId, title }) =>
        (await ask('GET', `/books/${bookId}/readings`)).map((reading: object) => ({ ...reading, title })),
      ),
    )
    return readings
      .flat()
      .filter(({ outcome, finishedAt }) => outcome === 'FINISHED' && finishedAt?.length === 10)
      .map(({ readingId, title, finishedAt, rating }) => ({ readingId, title, finishedAt, rating }))
      .sort((one, other) => (one.finishedAt < other.finishedAt ? 1 : one.finishedAt > other.finishedAt ? -1 : 0))
  }
  const { item } = await ask('GET', '/books?size=100')
  type Listed = { bookId: number; title: string; bookStatus: string; readEndDate: string | null; star: number }
  const isShown = ({ bookId, bookStatus }: Listed) =>
    (!status || bookStatus === status) && (!tag || member.books.get(bookId)?.tags.has(tag))
  const isByEnd = status === 'DONE' && !tag
  const shown = (item as Listed[]).filter(isShown).sort((one, other) => {
    const [first, second] = [one, other].map(({ readEndDate }) => (isByEnd && readEndDate) || '')
    return first === second ? other.bookId - one.bookId : (first ?? '') < (second ?? '') ? 1 : -1
  })
  return Promise.all(
    shown.map(async ({ bookId, title, bookStatus, readEndDate, star }) => {
      const [current] = bookStatus === 'YET' ? [] : await ask('GET', `/books/${bookId}/readings`)
      return {
        ...{ bookId, title, bookStatus },
        outcome: current?.outcome ?? null,
        rating: current?.rating ?? (star || null),
        finishedAt: readEndDate?.slice(0, 10) ?? null,
      }
    }),
  )
}

/** Items without what the model does not know. `isUnordered`: to be compared regardless of their order. */
const pickKnown = (items: Record<string, unknown>[], known: object[], isUnordered: boolean) => {
  const names = Object.keys(known[0] ?? {})
  const picked = items.map((item) => Object.fromEntries(names.map((name) => [name, item[name]])))
  return isUnordered ? picked.map((item) => JSON.stringify(item)).sort() : picked
}

const marksIn = (text: string) => new Set(text.match(MARK))
const toLine = (text: string) => text.replace(/\s+/g, ' ').trim()

const compareForms = async (send: Send, subject: Subject, link: Link, size: number) => {
  const show = async (rest: string) => {
    const answer = await send('GET', link.url + rest)
    assert.equal(answer.status, 200, `${link.kind}${rest}: ${answer.text}`)
    return answer
  }
  if (link.kind === 'YEAR') {
    const [picture, page, own] = await Promise.all([
      show('.svg'),
      show(''),
      send('GET', `/stats/year.svg?year=${link.year}`, { token: subject.member.token }),
    ])
    assert.equal(picture.text, own.text)
    const finishes = `/stats/rows?year=${link.year}&figure=readings&size=100`
    const { item, next } = await subject.ask('GET', finishes)
    assert.equal(next, null)
    type Shown = { bookId: number; title: string; author: string | null }
    const { item: books }: { item: Shown[] } = await subject.ask('GET', '/books?size=100')
    const authors = new Map(books.map(({ bookId, author }) => [bookId, author ?? '']))
    const shown = [...page.text.matchAll(/<bdi>(.*?)<\/bdi>/gs)].flatMap(([text]) => text.match(MARK) ?? [])
    const expected = (item as Shown[]).flatMap(({ bookId, title }) =>
      [title, authors.get(bookId) ?? ''].flatMap((text) => text.match(MARK) ?? []),
    )
    assert.deepEqual(shown.sort(), expected.sort())
    assert.deepEqual(marksIn(page.text), new Set(expected))
    return 2
  }
  const expected: Record<string, unknown>[] = await expectItems(subject, link)
  const isUnordered = link.kind === 'CALENDAR'
  const items: Record<string, unknown>[] = []
  for (let cursor = ''; ; ) {
    const { item, next } = toJson(await show(`.json?size=${size}${cursor}`))
    items.push(...item)
    if (next === null) break
    cursor = `&cursor=${next}`
  }
  assert.deepEqual(pickKnown(items, expected, isUnordered), pickKnown(expected, expected, isUnordered))
  const allowed = marksIn(JSON.stringify(items))
  const titlesOf = (titles: (string | undefined)[]) => {
    const marks = titles.map((title) => title?.match(MARK)?.[0])
    return isUnordered ? marks.sort() : marks
  }
  const expectedMarks = titlesOf(expected.map(({ title }) => String(title)))
  const [page, feed, atom] = await Promise.all([show(''), show('.feed.json'), show('.atom')])
  assert.deepEqual(titlesOf(parseJsonFeed(JSON.parse(feed.text)).items?.map(({ title }) => title) ?? []), expectedMarks)
  assert.deepEqual(titlesOf(parseAtomFeed(atom.text).entries?.map(({ title }) => title?.value) ?? []), expectedMarks)
  const headings = [...page.text.matchAll(/<h2>(.*?)<\/h2>/gs)].map(([, heading]) => heading)
  assert.deepEqual(titlesOf(headings), titlesOf(items.slice(0, 20).map(({ title }) => String(title))))
  const texts = [page, feed, atom]
  if (link.kind === 'CALENDAR') {
    const calendar = await show('.ics')
    const events = new ICAL.Component(ICAL.parse(calendar.text)).getAllSubcomponents('vevent')
    const found = events.map((event) => new ICAL.Event(event))
    const toText = (title: unknown, day: unknown) => `${day} ${toLine(String(title))}`
    assert.deepEqual(
      found.map(({ summary, startDate }) => toText(summary, startDate)).sort(),
      expected.map(({ title, finishedAt }) => toText(title, finishedAt)).sort(),
    )
    texts.push(calendar)
  }
  for (const { text } of texts)
    for (const mark of marksIn(text.replaceAll('\r\n ', ''))) assert.ok(allowed.has(mark), `${link.kind} shows ${mark}`)
  return texts.length + 1
}

const withoutId = ({ status, headers, text }: Answer) =>
  JSON.stringify([status, [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name)), text])

/**
 * Compares what all links show after each of some random changes of two members, one of whom withdraws at the end. Returns how many
 * forms were compared, and how many requests for links that had ended.
 * @param never the address of a link of that kind that never existed
 */
export const compareStates = async (
  send: Send,
  tokens: [string, string],
  seed: number,
  states: number,
  never: (kind: LinkKind) => string,
) => {
  const random = createRandom(seed)
  const subjects = tokens.map((token, at) => createMember(send, token, at + 1, random))
  const compared = { forms: 0, ended: 0 }
  for (let state = 0; state < states; state++) {
    for (let n = 0; n < 8; n++) for (const { makeChange } of subjects) await makeChange()
    if (state === states - 1) await random.pick(subjects).withdraw()
    for (const subject of subjects) {
      for (const link of subject.member.links)
        compared.forms += await compareForms(send, subject, link, random.pick([1, 2, 7]))
      for (const { kind, url } of subject.member.ended) {
        const suffix = random.pick(SUFFIXES[kind])
        const [ended, unknown] = [await send('GET', url + suffix), await send('GET', never(kind) + suffix)]
        assert.equal(ended.status, 404)
        assert.equal(withoutId(ended), withoutId(unknown))
        compared.ended++
      }
    }
  }
  return compared
}
