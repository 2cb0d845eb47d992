// D1 calls and rows per endpoint, as D1 counts them, in libraries of 100 and 100,000 books.
import { type HttpRequest, type HttpResponse, sendRequest } from '../../support/service/http-client.ts'
import { endpoints, sendExpecting } from '../endpoints/endpoints.ts'
import type { Library } from '../endpoints/seed.ts'

export type Cost = { calls: number; read: number; written: number }
export type RowCost = Omit<Cost, 'read'> & {
  name: string
  read: [small: number, large: number]
  grows?: string
  ceiling?: number
}

export const costOf = ({ head }: HttpResponse): Cost => {
  const header = (name: string) => Number(new RegExp(`\r\n${name}: (\\d+)`, 'i').exec(head)?.[1] ?? Number.NaN)
  return { calls: header('X-D1-Calls'), read: header('X-Rows-Read'), written: header('X-Rows-Written') }
}

const measure = async (url: URL, request: HttpRequest, expected: number) =>
  costOf(await sendExpecting(url, request, expected))

export const toRowCost = (
  name: string,
  inSmall: Cost,
  inLarge: Cost,
  growth: Pick<RowCost, 'grows' | 'ceiling'> = {},
): RowCost => ({
  name,
  calls: Math.max(inSmall.calls, inLarge.calls),
  read: [inSmall.read, inLarge.read],
  written: Math.max(inSmall.written, inLarge.written),
  ...growth,
})

export const measureRows = async (url: URL, small: Library, large: Library) => {
  const costs: RowCost[] = []
  for (const { name, status, grows, ceiling, toRequest } of endpoints) {
    const measureIn = (library: Library) => measure(url, toRequest(library, 1), status)
    costs.push(
      toRowCost(name, await measureIn(small), await measureIn(large), {
        ...(grows && { grows }),
        ...(ceiling && { ceiling }),
      }),
    )
  }
  return costs
}

type SessionEndpoint = [name: string, status: number, method: string, path: string, library: Library]

/** The order matters: most of them end sessions. */
const sessionEndpoints = (library: Library): SessionEndpoint[] => [
  ['sessions', 200, 'GET', '/sessions', library],
  ['renew', 200, 'POST', '/sessions/renew', library],
  ['end session', 204, 'DELETE', `/sessions/${library.otherSession}`, library],
  ['log out', 204, 'POST', '/logout', { ...library, token: library.otherToken }],
  ['end other sessions', 204, 'DELETE', '/sessions', library],
  ['activity', 200, 'GET', '/members/me/activity', library],
]

/** Operations on ten sessions of each member, all but the current one of which end. */
export const measureSessions = async (url: URL, small: Library, large: Library) => {
  const measureIn = async (library: Library) => {
    const costs: Cost[] = []
    for (const [, status, method, path, { token }] of sessionEndpoints(library)) {
      costs.push(await measure(url, { method, path, token }, status))
    }
    return costs
  }
  const [inSmall, inLarge] = [await measureIn(small), await measureIn(large)]
  return sessionEndpoints(small).flatMap(([name], at) => {
    const [one, other] = [inSmall[at], inLarge[at]]
    return one && other ? [toRowCost(name, one, other)] : []
  })
}

const post = (path: string, body: unknown): HttpRequest => ({ method: 'POST', path, body: JSON.stringify(body) })

/** Deletes a book with fifty memos, and restores it. */
export const measureTrash = async (url: URL, small: Library, large: Library) => {
  const measureIn = async ({ token }: Library) => {
    const send = (method: string, path: string, status: number, body?: object) =>
      sendExpecting(url, { method, path, token, ...(body && { body: JSON.stringify(body) }) }, status)
    const { bookId } = JSON.parse((await send('POST', '/books', 201, { title: 'Deleted', author: 'Author 1' })).body)
    const memo = { memoBookPage: 1, memoContent: 'Something worth remembering on this page.' }
    for (let n = 0; n < 50; n++) await send('POST', `/memos?bookId=${bookId}`, 201, memo)
    const costs = {
      'delete book with 50 memos': costOf(await send('DELETE', `/books/${bookId}`, 204)),
      // Smaller than the trash, as SQLite reads one more row to see that a member has no more.
      trash: costOf(await send('GET', '/trash?size=1', 200)),
      'restore book with 50 memos': costOf(await send('POST', `/trash/book-${bookId}/restore`, 200)),
    }
    await send('DELETE', `/books/${bookId}`, 204)
    return { ...costs, 'delete for good': costOf(await send('DELETE', `/trash/book-${bookId}`, 204)) }
  }
  const [inSmall, inLarge] = [await measureIn(small), await measureIn(large)]
  return Object.entries(inSmall).map(([name, cost]) => toRowCost(name, cost, inLarge[name as keyof typeof inLarge]))
}

/** Operations that hash a password between their database calls. */
export const measureHashing = async (url: URL) => {
  const email = 'bench@example.com'
  const password = 'correct-horse-9'
  const joined = await measure(url, post('/join', { email, name: 'Bench', password, authenticationCode: '0' }), 201)
  const login = post('/login', { email, password })
  const loggedIn = await measure(url, login, 200)
  const token = /\r\nauthorization: Bearer (\S+)/i.exec((await sendRequest(url, login)).head)?.[1] ?? ''
  const change = { method: 'PATCH', path: '/members/me', token, body: JSON.stringify({ password: `${password}9` }) }
  const changed = await measure(url, change, 200)
  return { 'sign-up': joined, login: loggedIn, 'password change': changed }
}

/** Must come last, because it deletes the libraries. */
export const measureWithdrawal = async (url: URL, small: Library, large: Library): Promise<RowCost> => {
  const withdraw = ({ token }: Library) => measure(url, { method: 'DELETE', path: '/members/me', token }, 204)
  return toRowCost('withdraw', await withdraw(small), await withdraw(large))
}

/** The most rows that each endpoint may read and write. Every book of the library has a tag, the member has ten
 * sessions and seven links. Each trigger that looks for the log of changes counts as a row read. */
const MOST_ROWS: Record<string, [read: number, written: number]> = {
  library: [23, 0],
  detail: [19, 0],
  memos: [40, 0],
  random: [6, 0],
  // Written: the book and its indexes, those of titles and authors included, the member's counters, the author's books.
  register: [14, 7],
  // Written: the memo and its five index entries, of which one is that of public memos, the counters of book and member, and
  // the index of activity.
  'memo creation': [22, 9],
  calender: [23, 0],
  'memo-books': [8, 0],
  abandon: [58, 0],
  'memos of a type': [13, 0],
  // Written: the book, the event of progress, and the indexes of ratings and activity. `page` changes no rating.
  update: [13, 5],
  'created-date': [6, 2],
  // Written also: the numbers of books of the author and of the tag, the row that gives the book its tag; and, as for a memo,
  // the row of the trash with its index entry.
  'delete book': [61, 7],
  // Written also, besides what the deletion of its memos writes: two rows of the trash, and their index entries.
  'delete book with 50 memos': [920, 111],
  trash: [5, 0],
  // Written: each memo with its four index entries, the book as above, and its row in the trash.
  'restore book with 50 memos': [640, 265],
  'delete for good': [9, 3],
  memo: [5, 0],
  'memo update': [12, 3],
  'delete memo': [30, 7],
  'image upload': [7, 4],
  profile: [2, 0],
  rename: [3, 1],
  sessions: [15, 0],
  renew: [5, 2],
  // Read: the entries of the activity of the day, which a repeat is merged into.
  'end session': [17, 3],
  'log out': [15, 3],
  'end other sessions': [40, 10],
  activity: [10, 0],
  // Also deletes the token of a device.
  withdraw: [36, 14],
  page: [13, 4],
  edition: [4, 0],
  'edition update': [6, 1],
  'folder of a device': [4, 0],
  'books by ISBN': [6, 0],
  'lookup of an ISBN': [6, 0],
  // Read also: the guard before the catalogue is asked. Written also: the index entry of the ISBN.
  'registration by ISBN': [16, 8],
  readings: [13, 0],
  reading: [45, 7],
  'reading update': [38, 8],
  // Read also: the length of the book, of which each event is a percentage.
  progress: [27, 0],
  'progress, deep': [27, 0],
  // Written also, as it begins an unread book: the book twice, its index entries, and the member's counters.
  'progress creation': [56, 10],
  'push of progress': [77, 7],
  'pull of progress': [7, 0],
  // Read also: what a page may read of the sittings of devices, several times.
  sittings: [1_500, 0],
  documents: [149, 0],
  'book of a document': [29, 1],
  'tags of a book': [9, 0],
  'tags update': [75, 10],
  tags: [9, 0],
  tagged: [66, 0],
  // Read also: the links by both tags.
  'tag rename': [28, 2],
  'whole book': [60, 0],
  // An index entry of each rated book, and of each with a format and with a series.
  'counts of books': [265, 0],
  series: [110, 0],
  'series, deep': [110, 0],
  // Read also: the tags that the book has, before and after.
  'change of single tags': [90, 5],
  authors: [23, 0],
  'authors, deep': [23, 0],
  'books by created': [28, 0],
  'books by created, deep': [28, 0],
  'books by title': [24, 0],
  'books by title, deep': [26, 0],
  'books by author': [24, 0],
  'books by author, deep': [26, 0],
  'books by finished': [24, 0],
  'books by finished, deep': [33, 0],
  'books by rating': [24, 0],
  'books by rating, deep': [77, 0],
  'books by activity': [28, 0],
  'books by activity, deep': [34, 0],
  'books of a status and an author': [208, 0],
  'books with a tag': [125, 0],
  'books by status and tags': [400, 0],
  'books with a term': [208, 0],
  'books being read': [100, 0],
  'books with all parts': [140, 0],
  // Reads the readings of the books of the year once more, for their first finishes.
  statistics: [730, 0],
  // Read: a day of two books takes two sittings, their documents and their books.
  'statistics of daily sittings': [4_500, 0],
  'years of statistics': [300, 0],
  'rows of a figure': [850, 0],
  'picture of a year': [200, 0],
  links: [20, 0],
  'link creation': [70, 6],
  'link update': [10, 1],
  'link to books': [40, 0],
  'link to finished books': [40, 0],
  'link to books with a tag': [60, 0],
  // Read: five rows for each memo, as the memos are added up before their books are read.
  'link to memos': [115, 0],
  'link to memos, feed': [265, 0],
  'link to a calendar': [120, 0],
  'link to a calendar, events': [2_600, 0],
  'link to a year': [205, 0],
  goal: [100, 1],
  'check of a device’s token': [4, 0],
  'highlights sent again': [20, 0],
  'changes of a device': [20, 0],
  // Read also: the documents, to count them, twice.
  'undo of a device, nothing to undo': [185, 0],
  // Written: the sitting with its two index entries, its document, the file, the member's counters, an attempt with its index entry.
  'a day more of reading': [160, 8],
  'the same statistics again': [20, 0],
  settings: [4, 0],
  'search of books': [104, 0],
  'search of memos': [126, 0],
  'search of memos, deep': [126, 0],
  'memos of all books': [115, 0],
  'memos of all books, deep': [95, 0],
  'memos of all books, no match': [569, 0],
  changes: [1_250, 1],
  'changes, deep': [620, 0],
  'changes, idle': [8, 0],
  'changes, delta': [100, 0],
  // Read also: the entries of the log since the cursor, for each of three statements.
  'delete book, unchanged since': [110, 8],
  // Written also: the key, and the number of keys of the member.
  'register with a key': [24, 9],
  'register with a key, repeated': [20, 0],
  'memo creation with a key': [33, 11],
  'memo creation with a key, repeated': [30, 0],
  // Changes two objects: the book, and its progress.
  'update, synced': [17, 7],
  // Written: each of ten memos with its index entries, the readings, the two books with their activity, and the row of the
  // trash.
  merge: [432, 55],
  'change of ten books': [1_230, 102],
  'deletion of ten books': [1_070, 110],
  'search of books, no match': [426, 0],
  'search of books, tags with a word': [710, 0],
  'search of memos, no match': [569, 0],
}

/** A write of a member who syncs also writes an entry for each object that it changes. */
const syncedTarget = (name: string): [number, number] | undefined => {
  const [read, written] = MOST_ROWS[name.replace(/, synced$/, '')] ?? []
  return read === undefined || written === undefined ? undefined : [read + 2, written + 1]
}

/** The target of an endpoint. */
export const maxRows = (name: string) => {
  const target = MOST_ROWS[name] ?? syncedTarget(name)
  if (!target) throw new Error(`${name} needs a target for its rows`)
  const [read, written] = target
  return { read, written }
}
