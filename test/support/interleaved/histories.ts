// Random histories: a library of few books, up to six clients whose requests overlap, and the state after them. Some order of the
// requests that the recorded times allow must explain all of it.
import * as fc from 'fast-check'
import { randomFrom } from '../inputs/malformed-files'
import { type Attempt, type Expected, NOT_FOUND, type Request } from '../model/commands'
import { register } from '../model/contract'
import type { Library } from '../model/library'
import { learnReadings } from '../model/readings'
import { anyCommand, beforeRun, learnBegun, readView, type Send, sendCommands, stateViews } from '../model/run'
import type { View } from '../model/views'
import { type Call, explains, type Frame, findOrder, overlap } from './order'

type Draw = ReturnType<typeof randomFrom>

const BOOKS = 2
const MAX_CLIENTS = 6
const MAX_COMMANDS = 300
/** Commands that meet: most histories have mostly those of one line. */
const TOPICS = [
  ['create reading', 'update reading'],
  ['create reading', 'update reading', 'delete reading', 'update'],
  ['create reading', 'update', 'add progress', 'merge'],
  ['create memo', 'update memo', 'delete memo'],
  ['create memo', 'merge', 'delete book'],
  ['put tags', 'rename tag', 'delete tag', 'merge'],
  ['register', 'create memo', 'create reading', 'delete book'],
  ['update books', 'update', 'put tags', 'create reading'],
  ['update books', 'delete books', 'create memo', 'add progress'],
]
type Topic = string[] | undefined

const choose = (draw: Draw, topic?: Topic) => {
  const commands = fc.sample(anyCommand, { numRuns: MAX_COMMANDS, seed: draw(2 ** 31) })
  return commands.filter(({ name }) => !topic || topic.includes(name))
}

const pathOf = (view: View) => ('items' in view ? `${view.path}&size=${view.size}` : view.path)
const expectedOf = (view: View): Expected => {
  if ('items' in view) return { status: 200, body: { item: view.items, next: null } }
  return 'expected' in view ? view.expected : { status: 200 }
}

/** A read of something that there was before: its answer shows the state at one moment. */
const toRead = (library: Library, draw: Draw): Attempt => {
  const views = stateViews(library).map(pathOf)
  const path = views[draw(views.length)] ?? '/tags'
  const respond = (library: Library, body: unknown) => {
    const book = library.books.find(({ bookId }) => path === `/books/${bookId}/readings`)
    if (book) learnReadings(library, book, body)
    const view = stateViews(library).find((each) => pathOf(each) === path)
    return view ? expectedOf(view) : NOT_FOUND
  }
  return { method: 'GET', path, respond }
}

/** Whether a request would be answered 400, or 404, before the others. Creations throw, as there is no identifier yet. */
const isRefused = (library: Library, { respond }: Attempt) => {
  try {
    return [400, 404].includes(respond(structuredClone(library), {}, null).status)
  } catch {
    return false
  }
}

/** What each client sends: one request, or another one when that has been answered. Some repeat a request of another. */
const toClients = (library: Library, draw: Draw, topic: Topic) => {
  const clients = 2 + draw(MAX_CLIENTS - 1)
  const commands = choose(draw, topic)
  const sent: Attempt[] = []
  const next = () => {
    const kind = draw(6)
    if (kind === 0) return toRead(library, draw)
    const earlier = sent[draw(sent.length + 1)]
    if (kind === 1 && earlier) return earlier
    // Most of those that are refused in any order are left out.
    for (let command = commands.pop(); command; command = commands.pop()) {
      const attempt = command.attempt(library)
      if (attempt && (draw(6) === 0 || !isRefused(library, attempt))) return attempt
    }
    return toRead(library, draw)
  }
  return Array.from({ length: clients }, () =>
    Array.from({ length: draw(4) === 0 ? 2 : 1 }, () => {
      const attempt = next()
      sent.push(attempt)
      return attempt
    }),
  )
}

const sendAll = async (send: Send, clients: Attempt[][]) => {
  let events = 0
  const calls: Call[] = []
  const run = async (attempts: Attempt[]) => {
    for (const attempt of attempts) {
      const { respond: _, ...request } = attempt
      const start = events++
      const answer = await send(request)
      calls.push({ attempt, answer, start, end: events++ })
    }
  }
  await Promise.all(clients.map(run))
  return calls.sort((one, other) => one.start - other.start)
}

/** Reads the state at rest: each path once. */
const remembering = (send: Send): Send => {
  const known = new Map<string, ReturnType<Send>>()
  return (request: Request) => {
    const answer = known.get(request.path) ?? send(request)
    known.set(request.path, answer)
    return answer
  }
}

const checkOf = (send: Send, since: string) => {
  const read = remembering(send)
  return async (library: Library) => {
    const final = structuredClone(library)
    await learnBegun(read, final)
    for (const view of stateViews(final)) await readView(read, view, since)
  }
}

const describe = ({ attempt: { method, path, body, headers }, answer, start, end }: Call, at: number) =>
  `${at}. [${start}, ${end}] ${method} ${path} ${JSON.stringify({ body, headers })}: ${answer.status} ${JSON.stringify(answer.body)}`

export type History = {
  calls: Call[]
  /** Requests that overlapped another one. */
  overlapping: number
  /** Whether it is the order in which they were sent. */
  isInOrder: boolean
  /** Whether the answers and the state contradict another order that the times allow: always the last of those that can be next. */
  isDecided: boolean
  steps: number
  problem?: string
}

/** Runs a history of a new member. */
export const runHistory = async (send: Send, seed: number): Promise<History> => {
  const draw = randomFrom(seed)
  const since = beforeRun()
  const books = fc.sample(register.arbitrary, { numRuns: BOOKS, seed: draw(2 ** 31) })
  const topic = TOPICS[draw(TOPICS.length + 2)]
  const others = [...choose(draw).slice(0, draw(8)), ...choose(draw, topic).slice(0, 6)]
  const { library } = await sendCommands(send, [...books, ...others.filter(({ name }) => name !== 'register')], since)
  const calls = await sendAll(send, toClients(library, draw, topic))
  const frame: Frame = { library, since, check: checkOf(send, since) }
  const { order, steps, problems } = await findOrder(frame, calls)
  const lines = [...calls.map(describe), ...problems].map((line) => line.slice(0, 1000))
  return {
    calls,
    overlapping: calls.filter((call) => calls.some((other) => other !== call && overlap(call, other))).length,
    isInOrder: order?.every((at, place) => at === place) ?? false,
    isDecided: !(await explains(frame, calls, (next) => next.at(-1))),
    steps,
    ...(!order && { problem: `no order explains\n  ${lines.join('\n  ')}` }),
  }
}
