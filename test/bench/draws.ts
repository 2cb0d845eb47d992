// Tests whether random memos are drawn uniformly after writes and deletions, with Pearson's chi-square test.
import { encode, type HttpResponse, sendAll } from '../support/service/http-client.ts'
import { sendExpecting } from './endpoints/endpoints.ts'
import type { Library } from './endpoints/seed.ts'

export type Draws = { draws: number; memos: number; chiSquare: number; z: number }

const CONNECTIONS = 8

const writeAndDelete = async (url: URL, { token, book, spareMemos }: Library, times: number) => {
  for (let n = 0; n < times; n++) {
    const body = JSON.stringify({ memoBookPage: n, memoContent: 'Written later' })
    await sendExpecting(url, { method: 'POST', path: `/memos?bookId=${book}`, token, body }, 201)
    // Deletes every second spare memo.
    const [memo] = spareMemos.splice(n, 1)
    await sendExpecting(url, { method: 'DELETE', path: `/memos/${memo}`, token }, 204)
  }
}

const listMemoIds = async (url: URL, { token }: Library) => {
  const get = async <T>(path: string): Promise<T> =>
    JSON.parse((await sendExpecting(url, { method: 'GET', path, token }, 200)).body)
  const { item } = await get<{ item: { bookId: number }[] }>('/books/memo-books?page=1&size=1000')
  const ids: number[] = []
  for (const { bookId } of item) {
    const { memosList } = await get<{ memosList: { memoId: number }[] }>(`/books/${bookId}?memoAuthority=ALL`)
    ids.push(...memosList.map(({ memoId }) => memoId))
  }
  return ids
}

/** The z-score of a chi-square value (Wilson and Hilferty, 1931). */
const toZ = (chiSquare: number, degrees: number) => {
  const variance = 2 / (9 * degrees)
  return (Math.cbrt(chiSquare / degrees) - (1 - variance)) / Math.sqrt(variance)
}

const BATCH = 2000

type Progress = (line: string) => void

export const testDraws = async (url: URL, library: Library, draws: number, progress: Progress): Promise<Draws> => {
  await writeAndDelete(url, library, 30)
  const drawn = new Map((await listMemoIds(url, library)).map((memoId) => [memoId, 0]))
  const request = encode({ method: 'GET', path: '/memos/random', token: library.token })
  const count = ({ status, body }: HttpResponse) => {
    const memoId = status === 200 ? JSON.parse(body)[0]?.memoId : undefined
    const times = drawn.get(memoId)
    if (times === undefined) throw new Error(`random: ${status} without a memo of the member: ${body}`)
    drawn.set(memoId, times + 1)
  }
  for (let done = 0; done < draws; done += BATCH) {
    progress(`drawing random memos: ${done} of ${draws}`)
    await sendAll(url, Array<Buffer>(Math.min(BATCH, draws - done)).fill(request), CONNECTIONS, count)
  }
  const expected = draws / drawn.size
  const chiSquare = [...drawn.values()].reduce((sum, times) => sum + (times - expected) ** 2 / expected, 0)
  return { draws, memos: drawn.size, chiSquare, z: toZ(chiSquare, drawn.size - 1) }
}
