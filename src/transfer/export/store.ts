import { type Caller, confirmCaller } from '../../db/caller'
import { afterResponse, type Db } from '../../db/client'
import { startLoading } from '../../db/parts'
import type { Config } from '../../env'
import { type Kind, loadPages, SELECT_PAGE } from './book-pages'
import { startExport } from './export-plan'
import { loadImages } from './image-pages'
import { toBook } from './library'
import { toBookWithMemos } from './markdown'
import type { ExportQuery } from './schema'

type Loading = Awaited<ReturnType<typeof startLoading>>

/**
 * Yields an empty page immediately, then the pages. Releases the lease at the end, or when `return` is called after the first
 * yield.
 */
async function* releasing<Book>(pages: AsyncGenerator<Book[], void>, end: Loading['end']) {
  try {
    yield []
    yield* pages
  } finally {
    end()
  }
}

/**
 * Starts an export. Its first page is loaded before this returns, so that a failure can still get an error
 * response; the others are loaded while the response is being sent. The caller must read `books` to the end or call `return`,
 * which releases the lease.
 */
const exportBooks = async <Row extends { bookId: number }, Book>(
  db: Db,
  caller: Caller,
  config: Config,
  query: ExportQuery,
  kind: Kind<Row, Book>,
) => {
  const memberId = await confirmCaller(db, caller)
  const { load, end } = await startLoading(db, caller)
  try {
    const { page, ...started } = await startExport({ db, caller, memberId, config, query }, kind, load)
    const pages = loadPages(afterResponse(db), caller, kind, started.part, page, load)
    const books = releasing(pages, end)
    await books.next()
    return { ...started, memberId, books, load }
  } catch (error) {
    end()
    throw error
  }
}

/** Everything that a member has. @param toUrl the URL of an image */
export const exportLibrary = async (
  db: Db,
  caller: Caller,
  config: Config,
  query: ExportQuery,
  toUrl: (memberId: number, name: string) => string,
) => {
  const kind = { contents: 'library', select: SELECT_PAGE.library, toBook } as const
  const { memberId, member, part, rateLimit, books, load } = await exportBooks(db, caller, config, query, kind)
  async function* listImages() {
    for await (const page of loadImages(afterResponse(db), caller, load)) {
      yield page.map(({ name, type, bytes, createdAt }) => ({
        name,
        url: toUrl(memberId, name),
        type,
        bytes,
        createdAt,
      }))
    }
  }
  // The first part has the images.
  return { part, rateLimit, member, images: part.number === 1 ? listImages() : [], books }
}

/** The books with their readings. */
export const exportShelves = (db: Db, caller: Caller, config: Config, query: ExportQuery) =>
  exportBooks(db, caller, config, query, { contents: 'books', select: SELECT_PAGE.books, toBook: (book) => book })

/** The books that have memos, with their memos. */
export const exportMemos = (db: Db, caller: Caller, config: Config, query: ExportQuery) =>
  exportBooks(db, caller, config, query, { contents: 'memos', select: SELECT_PAGE.memos, toBook: toBookWithMemos })
