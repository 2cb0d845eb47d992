// Runs random commands against the service and the model, and compares every answer and every view.
import * as fc from 'fast-check'
import { type Answer, type Attempt, at, type Command, type Expected, type Request } from './commands'
import { contractCommands } from './contract'
import { editionCommands, editionViews } from './editions'
import { createLibrary, type Library, NOW } from './library'
import { cursorViews, type Selection, selection } from './lists'
import { manyBooksCommands } from './many-books'
import { mergeCommands } from './merge'
import { progressCommands, progressViews } from './progress'
import { readingCommands } from './reading-commands'
import { learnReadings, listBegun, readingViews } from './readings'
import { screenViews } from './screens'
import { tagCommands, tagViews } from './tags'
import { trashCommands, trashViews } from './trash'
import { contractViews, detailViews, type Paging, type View } from './views'

/** The service as one new member. */
export type Send = (request: Request) => Promise<Answer>

/** `part`: which part of the views is read after the commands. */
type Sequence = { commands: Command[]; paging: Paging; selected: Selection; focus: number; part: number }

const PARTS = 5
/** More than any sequence fills. */
const MAX_PAGES = 100

const COMMANDS = [
  ...contractCommands,
  ...editionCommands,
  ...readingCommands,
  ...progressCommands,
  ...tagCommands,
  ...mergeCommands,
  ...trashCommands,
  ...manyBooksCommands,
]

export const anyCommand = fc.oneof(...COMMANDS)

/** Random commands, which fill a library. */
export const commandsUpTo = (maxLength: number, minLength = 1) =>
  fc.array(anyCommand, { minLength, maxLength, size: 'max' })

const sequence: fc.Arbitrary<Sequence> = fc.record({
  commands: commandsUpTo(30),
  paging: fc.record({ page: fc.integer({ min: 1, max: 3 }), size: fc.integer({ min: 1, max: 4 }) }),
  selected: selection,
  focus: fc.nat(99),
  part: fc.nat(PARTS - 1),
})

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
/** As JSON with sorted keys. */
const toText = (value: unknown) =>
  JSON.stringify(value, (_, each) => (isObject(each) ? Object.fromEntries(Object.entries(each).sort()) : each))

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?$/
/** Replaces the times that the clock of the service has set since a time. */
const withoutClock = (value: unknown, start: string): unknown =>
  JSON.parse(JSON.stringify(value ?? null), (_, each) =>
    typeof each === 'string' && TIME.test(each) && each >= start ? NOW : each,
  )

/** @throws Error that shows the difference */
const compare = ({ method, path }: Request, found: Omit<Answer, 'headers'>, expected: Expected, start: string) => {
  const body = toText(withoutClock(found.body, start))
  const isEqual = found.status === expected.status && (expected.body === undefined || body === toText(expected.body))
  if (!isEqual) {
    throw new Error(
      `${method} ${path}\n  found    ${found.status} ${body}\n  expected ${expected.status} ${toText(expected.body)}`,
    )
  }
}

/** All items of a list with a cursor. @throws Error if a page is too long, or the list does not end */
const readList = async (send: Send, path: string, size: number) => {
  const items: unknown[] = []
  let cursor = ''
  for (let pages = 1; pages <= MAX_PAGES; pages++) {
    const { status, body } = await send({ method: 'GET', path: `${path}&size=${size}${cursor}` })
    if (status !== 200) throw new Error(`GET ${path}${cursor}: ${status} ${JSON.stringify(body)}`)
    const { item, next } = body as { item: unknown[]; next: string | null }
    if (item.length > size) throw new Error(`GET ${path}${cursor}: ${item.length} items, not ${size}`)
    items.push(...item)
    if (next === null) return { items, pages }
    cursor = `&cursor=${next}`
  }
  throw new Error(`GET ${path}: more than ${MAX_PAGES} pages of ${size}`)
}

/** Reads a view, and returns the number of requests. @throws Error if it differs from the model's */
export const readView = async (send: Send, view: View, start: string) => {
  const request = { method: 'GET', path: view.path }
  if ('items' in view) {
    const { items, pages } = await readList(send, view.path, view.size)
    const body = view.toItem ? items.map(view.toItem) : items
    compare(request, { status: 200, body }, { status: 200, body: view.items }, start)
    return pages
  }
  const answer = await send(request)
  if ('expected' in view) compare(request, answer, view.expected, start)
  else if (answer.status !== 200 || !view.check(withoutClock(answer.body, start))) {
    throw new Error(`GET ${view.path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  return 1
}

/** Asks for the identifiers of readings that changes of books have begun. Returns the number of requests. */
export const learnBegun = async (send: Send, library: Library) => {
  const begun = listBegun(library)
  for (const book of begun) {
    const { body } = await send({ method: 'GET', path: `/books/${book.bookId}/readings` })
    learnReadings(library, book, body)
  }
  return begun.length
}

/** Everything the member can read, about one of the books in detail. */
const viewsOf = (library: Library, { paging, selected, focus }: Pick<Sequence, 'paging' | 'selected' | 'focus'>) => {
  const book = at(library.books, focus)
  return [
    ...contractViews(library, book, paging),
    ...editionViews(library, book?.bookId),
    ...readingViews(library, book),
    ...progressViews(library, book?.bookId, paging.size),
    ...tagViews(library, book?.bookId, paging, focus),
    ...cursorViews(library, book?.bookId, selected),
    ...screenViews(library, book, selected),
    ...trashViews(library),
  ]
}

const MOST = 100
const ALL = {
  filter: { status: undefined, tag: undefined, author: undefined },
  terms: [],
  memoType: undefined,
  size: MOST,
}
/** What shows the state of a library: all of each book, and the lists of books, tags and authors. */
export const stateViews = (library: Library): View[] => {
  const paging = { page: 1, size: MOST }
  const lists = [...cursorViews(library, undefined, ALL), ...tagViews(library, undefined, paging, 0)]
  return [
    ...library.books.flatMap((book) => [
      ...detailViews(library, book, paging).slice(0, 1),
      ...editionViews(library, book.bookId).slice(0, 1),
      ...readingViews(library, book),
      ...progressViews(library, book.bookId, MOST),
      ...tagViews(library, book.bookId, paging, 0)
        .filter(({ path }) => path.startsWith('/books/'))
        .slice(0, 1),
    ]),
    ...lists.filter(({ path }) => ['/books?', '/tags', '/authors?'].includes(path)),
    ...trashViews(library),
  ]
}

/** A time before all that the clock of the service sets in a run. */
export const beforeRun = () => new Date(Date.now() - 60_000).toISOString().slice(0, 19)

/** Changes the model as a request does. @throws Error if the service has answered it otherwise */
export const follow = (library: Library, { respond, ...request }: Attempt, answer: Answer, start: string) => {
  const body = (answer.body ?? {}) as Record<string, unknown>
  compare(request, answer, respond(library, body, answer.headers.get('ETag')), start)
}

/** Sends commands of a new member. @throws Error at the first answer that differs from the model's */
export const sendCommands = async (send: Send, commands: Command[], start = beforeRun()) => {
  const library = createLibrary()
  let requests = 0
  for (const command of commands) {
    const attempt = command.attempt(library)
    if (!attempt) continue
    const { respond: _, ...request } = attempt
    follow(library, attempt, await send(request), start)
    requests += 1
    requests += await learnBegun(send, library)
  }
  return { library, requests }
}

/** Compares the service with the model after a sequence of commands. @throws Error at the first difference */
const runSequence = async (send: Send, { commands, part, ...rest }: Sequence) => {
  const start = beforeRun()
  const sent = await sendCommands(send, commands, start)
  const { library } = sent
  let { requests } = sent
  const views = viewsOf(library, rest).filter((_, index) => index % PARTS === part)
  for (const view of views) requests += await readView(send, view, start)
  return requests
}

const describe = ({ commands, ...rest }: Sequence) => [...commands.map(String), fc.stringify(rest)].join('\n  ')

export type ModelReport = { sequences: number; requests: number; failure?: string }

/**
 * Compares the service with the model after random sequences, each of a new member, and reports the shortest one found
 * after which they differ.
 */
export const tryModel = async (
  connect: () => Promise<Send>,
  { numRuns, seed, progress }: { numRuns: number; seed: number; progress?: () => void },
): Promise<ModelReport> => {
  let requests = 0
  const property = fc.asyncProperty(sequence, async (each) => {
    requests += await runSequence(await connect(), each)
    progress?.()
  })
  const { failed, counterexample, errorInstance, numRuns: sequences } = await fc.check(property, { numRuns, seed })
  if (!failed) return { sequences, requests }
  const [shortest] = counterexample ?? []
  return { sequences, requests, failure: `${String(errorInstance)}\n  ${shortest ? describe(shortest) : ''}` }
}
