// Random histories of three devices and their member, compared with the model after each step.
import { createDraw } from '../sync/draw'
import { createModel, type Reached, type Title } from './model'

// biome-ignore lint/suspicious/noExplicitAny: answers of any operation
export type Answer = { status: number; body: any }
export type Member = {
  send: (method: string, path: string, token: string, body?: object) => Promise<Answer>
  token: string
  /** Moves the clock of the service. Returns its time. */
  pass: (ms: number) => number | Promise<number>
}

const DEVICES = 3
const NAMES = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(32))
const TITLES: Title[] = [
  { title: 'Dune', author: 'Frank Herbert' },
  { title: 'DUNE', author: 'Herbert, Frank' },
  { title: 'Emma', author: 'Jane Austen' },
  { title: 'Emma', author: 'Alexander McCall Smith' },
  { title: '소년이 온다', author: '한강' },
]
const nameOf = (device: number) => `Device ${device}`
const PERCENTAGES = [0, 0.1, 0.25, 0.255, 0.5, 0.75, 1]
const STEPS = 30
/** More than the pushes of a queue are apart, or less. */
const GAPS = [400, 900, 9000, 11_000, 60_000]

const expectEqual = (what: string, found: unknown, expected: unknown) => {
  const [one, other] = [found, expected].map((value) => JSON.stringify(value))
  if (one !== other) throw new Error(`${what}: ${one}, not ${other}`)
}

/** Runs the history of a seed. @throws Error that names the step and the difference */
export const runHistory = async ({ send, token, pass }: Member, seed: number, reached: Reached) => {
  const draw = createDraw(seed)
  const pick = <T>(list: readonly T[]) => list[draw(list.length)] as T
  const ask = async (method: string, path: string, body?: object, as = token) => {
    const { status, body: answer } = await send(method, path, as, body)
    if (status >= 400) throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${status} ${JSON.stringify(answer)}`)
    return answer
  }
  const starts = Array.from({ length: DEVICES }, () => draw(2) === 1)
  const tokens: string[] = []
  for (const [at, startsBooks] of starts.entries()) {
    const device = { name: nameOf(at), scopes: ['intake:read', 'intake:write'], startsBooks }
    tokens.push((await ask('POST', '/tokens', device)).token)
  }
  const model = createModel(starts, reached)
  const { books, documents } = model

  const there = () => books.filter(({ place }) => place === 'library')
  const check = async () => {
    const { item } = await ask('GET', '/books?sort=created&size=100')
    const shown = (item as { bookId: number; currentPage: number; bookStatus: string }[]).map((book) => [
      ...[book.bookId, book.currentPage, book.bookStatus],
    ])
    expectEqual(
      'books',
      shown,
      there().map(({ bookId, currentPage, status }) => [bookId, currentPage, status]),
    )
  }
  const checkAll = async () => {
    await check()
    for (const { bookId, events } of there()) {
      const { item } = await ask('GET', `/books/${bookId}/progress?size=100`)
      const shown = item.map((event: { page: number; kind: string; source: string | null }) => [
        event.page,
        event.kind,
        event.source,
      ])
      const expected = events
        .toReversed()
        .map(({ page, kind, device }) => [page, kind, device === null ? null : 'DEVICE'])
      expectEqual(`progress of book ${bookId}`, shown, expected)
    }
    const { item } = await ask('GET', '/documents?size=100')
    expectEqual('documents', item.length, documents.size)
    for (const { documentId, state, book } of item)
      expectEqual(`document ${documentId}`, { state, bookId: book?.bookId }, model.state(documentId))
    for (const [device, as] of tokens.entries()) {
      const name = pick(NAMES)
      const { progress, percentage } = await ask('GET', `/koreader/syncs/progress/${name}`, undefined, as)
      const other = model.pulled(name, device)
      expectEqual(`pull of ${name} by ${device}`, [progress, percentage], [other?.progress, other?.percentage])
    }
  }

  const register = async () => {
    const { title, author } = pick(TITLES)
    const itemPage = pick([null, 10, 200, 321, 321])
    const status = pick(['YET', 'YET', 'ING', 'ING', 'ING', 'ING', 'DONE'] as const)
    const book = { title, author, itemPage, bookStatus: status, currentPage: itemPage ? pick([0, 0, 5]) : 0 }
    const { bookId } = await ask('POST', '/books', book)
    books.push({ bookId, ...book, status, place: 'library', events: [] })
  }
  const bookIn = (place: string) => {
    const found = books.filter((book) => book.place === place)
    return found.length > 0 ? pick(found) : undefined
  }
  const push = async (gap: number, device = draw(DEVICES), document = pick(NAMES)) => {
    const now = await pass(gap)
    const title = draw(3) > 0 ? pick(TITLES) : undefined
    const sent = { document, percentage: pick(PERCENTAGES), progress: `at ${draw(1000)}` }
    const metadata = title && { metadata: { title: title.title, authors: title.author, filename: 'x.epub' } }
    await ask('PUT', '/koreader/syncs/progress', { ...sent, device: 'k', device_id: 'k', ...metadata }, tokens[device])
    model.push(now, { ...sent, device, title })
  }
  const actions: [weight: number, () => Promise<void>][] = [
    [14, () => push(pick(GAPS))],
    // A queue: of several documents, or several days of one.
    [
      4,
      async () => {
        const [device, document] = [draw(DEVICES), pick(NAMES)]
        await push(pick(GAPS), device)
        for (let left = 1 + draw(4); left > 0; left--) await push(100, device, draw(2) ? document : pick(NAMES))
      },
    ],
    [2, register],
    [
      3,
      async () => {
        const [document, book] = [pick(NAMES), draw(4) === 0 ? null : bookIn('library')]
        if (!documents.has(document) || book === undefined) return
        await pass(20)
        await ask('PUT', `/documents/${document}/book`, { bookId: book?.bookId ?? null })
        model.link(document, book)
      },
    ],
    [
      3,
      async () => {
        const book = bookIn('library')
        if (!book) return
        const now = await pass(1000)
        const [page, finish] = [draw((book.itemPage ?? 9) + 1), draw(12) === 0]
        await ask('POST', `/books/${book.bookId}/progress`, { page, finish })
        model.add(now, book, page, finish)
      },
    ],
    [
      2,
      async () => {
        const device = draw(DEVICES)
        const now = await pass(20)
        const since = now - pick([10, 30_000, 3_600_000, 90_000_000])
        const created = await ask('GET', '/tokens')
        const { tokenId } = created.find(({ name }: { name: string }) => name === nameOf(device))
        const path = `/tokens/${tokenId}/undo`
        const { progress, documents, kept } = await ask('POST', path, { since: new Date(since).toISOString() })
        const left = kept.map(({ bookId }: { bookId: number }) => bookId).sort()
        const expected = model.undo(device, since)
        expectEqual(
          `undo of ${device}`,
          { progress, documents, kept: left },
          { ...expected, kept: expected.kept.sort() },
        )
      },
    ],
    [
      1,
      async () => {
        const book = bookIn('library')
        if (book) await ask('DELETE', `/books/${book.bookId}`)
        if (book) book.place = 'trash'
      },
    ],
    [
      2,
      async () => {
        const book = bookIn('trash')
        if (!book) return
        const isForGood = draw(3) === 0
        if (isForGood) await ask('DELETE', `/trash/book-${book.bookId}`)
        else await ask('POST', `/trash/book-${book.bookId}/restore`)
        book.place = isForGood ? 'gone' : 'library'
      },
    ],
  ]
  // Half of the histories delete nothing.
  const weighted = actions
    .slice(0, draw(2) ? undefined : -2)
    .flatMap(([weight, action]) => Array.from({ length: weight }, () => action))
  for (let left = 4; left > 0; left--) await register()
  for (let step = 0; step < STEPS; step++) {
    try {
      await pick(weighted)()
      await check()
    } catch (error) {
      throw new Error(`history ${seed}, step ${step}: ${error}`)
    }
  }
  await checkAll().catch((error) => {
    throw new Error(`history ${seed}, at the end: ${error}`)
  })
}
