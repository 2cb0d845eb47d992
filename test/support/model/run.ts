// Runs random commands against the service and the model, and compares every answer and every view.
import * as fc from 'fast-check'
import { at, type Command, type Expected, type Request } from './commands'
import { contractCommands } from './contract'
import { editionCommands, editionViews } from './editions'
import { createLibrary, type Library, NOW } from './library'
import { cursorViews, type Selection, selection } from './lists'
import { progressCommands, progressViews } from './progress'
import { readingCommands } from './reading-commands'
import { findBegun, learnReading, readingViews } from './readings'
import { tagCommands, tagViews } from './tags'
import { contractViews, type Paging, type View } from './views'

type Answer = { status: number; body: unknown }
/** The service as one new member. */
export type Send = (request: Request) => Promise<Answer>

/** `part`: which part of the views is read after the commands. */
type Sequence = { commands: Command[]; paging: Paging; selected: Selection; focus: number; part: number }

const PARTS = 5
/** More than any sequence fills. */
const MAX_PAGES = 100

const COMMANDS = [...contractCommands, ...editionCommands, ...readingCommands, ...progressCommands, ...tagCommands]

/** Random commands, which fill a library. */
export const commandsUpTo = (maxLength: number, minLength = 1) =>
  fc.array(fc.oneof(...COMMANDS), { minLength, maxLength, size: 'max' })

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
const compare = ({ method, path }: Request, found: Answer, expected: Expected, start: string) => {
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
const readView = async (send: Send, view: View, start: string) => {
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

/** Asks for the identifier of a reading that a change of a book has begun. Returns the number of requests. */
const learnBegun = async (send: Send, library: Library) => {
  const book = findBegun(library)
  if (!book) return 0
  const { body } = await send({ method: 'GET', path: `/books/${book.bookId}/readings` })
  learnReading(library, book.bookId, body)
  return 1
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
  ]
}

/** Sends commands of a new member. @throws Error at the first answer that differs from the model's */
export const sendCommands = async (
  send: Send,
  commands: Command[],
  start = new Date(Date.now() - 60_000).toISOString().slice(0, 19),
) => {
  const library = createLibrary()
  let requests = 0
  for (const command of commands) {
    const attempt = command.attempt(library)
    if (!attempt) continue
    const { respond, ...request } = attempt
    const answer = await send(request)
    requests += 1
    compare(request, answer, respond((answer.body ?? {}) as Record<string, unknown>), start)
    requests += await learnBegun(send, library)
  }
  return { library, requests }
}

/** Compares the service with the model after a sequence of commands. @throws Error at the first difference */
const runSequence = async (send: Send, { commands, part, ...rest }: Sequence) => {
  const start = new Date(Date.now() - 60_000).toISOString().slice(0, 19)
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
