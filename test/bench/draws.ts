// Whether the random memo is drawn evenly, after memos were written and deleted: Pearson's chi-square test.
import { type Answer, type Ask, ask, drive, encode } from '../support/http-client.ts'
import type { Shelf } from './seed.ts'

export type Draws = { draws: number; memos: number; chiSquare: number; z: number }

const CONNECTIONS = 8

/** The body of the answer, which must have this status. */
const read = async <T>(url: URL, request: Ask, status: number): Promise<T> => {
  const answer = await ask(url, request)
  if (answer.status !== status) throw new Error(`${request.path}: ${answer.status} instead of ${status}`)
  return answer.body === '' ? (undefined as T) : JSON.parse(answer.body)
}

const writeAndDelete = async (url: URL, { token, book, spareMemos }: Shelf, times: number) => {
  for (let n = 0; n < times; n++) {
    const body = JSON.stringify({ memoBookPage: n, memoContent: 'Written late' })
    await read(url, { method: 'POST', path: `/memos?bookId=${book}`, token, body }, 201)
    // From the middle, each time: every second memo of those that are spare.
    const [memo] = spareMemos.splice(n, 1)
    await read(url, { method: 'DELETE', path: `/memos/${memo}`, token }, 204)
  }
}

const listMemoIds = async (url: URL, { token }: Shelf) => {
  const get = <T>(path: string) => read<T>(url, { method: 'GET', path, token }, 200)
  const { item } = await get<{ item: { bookId: number }[] }>('/books/memo-books?page=1&size=1000')
  const ids: number[] = []
  for (const { bookId } of item) {
    const { memosList } = await get<{ memosList: { memoId: number }[] }>(`/books/${bookId}?memoAuthority=ALL`)
    ids.push(...memosList.map(({ memoId }) => memoId))
  }
  return ids
}

/** How far a chi-square is from what chance would give, in standard deviations (Wilson and Hilferty, 1931). */
const toZ = (chiSquare: number, degrees: number) => {
  const variance = 2 / (9 * degrees)
  return (Math.cbrt(chiSquare / degrees) - (1 - variance)) / Math.sqrt(variance)
}

const DRAWS_BETWEEN_SIGNS = 2000

/** Draws so often from a shelf some of whose memos come and go before. */
export const testDraws = async (
  url: URL,
  shelf: Shelf,
  draws: number,
  progress: (line: string) => void,
): Promise<Draws> => {
  await writeAndDelete(url, shelf, 30)
  const drawn = new Map((await listMemoIds(url, shelf)).map((memoId) => [memoId, 0]))
  const request = encode({ method: 'GET', path: '/memos/random', token: shelf.token })
  const count = ({ status, body }: Answer) => {
    const memoId = status === 200 ? JSON.parse(body)[0]?.memoId : undefined
    const times = drawn.get(memoId)
    if (times === undefined) throw new Error(`random: ${status}, and no memo of the member's: ${body}`)
    drawn.set(memoId, times + 1)
  }
  for (let done = 0; done < draws; done += DRAWS_BETWEEN_SIGNS) {
    progress(`drawing random memos: ${done} of ${draws}`)
    await drive(url, Array<Buffer>(Math.min(DRAWS_BETWEEN_SIGNS, draws - done)).fill(request), CONNECTIONS, count)
  }
  const expected = draws / drawn.size
  const chiSquare = [...drawn.values()].reduce((sum, times) => sum + (times - expected) ** 2 / expected, 0)
  return { draws, memos: drawn.size, chiSquare, z: toZ(chiSquare, drawn.size - 1) }
}
