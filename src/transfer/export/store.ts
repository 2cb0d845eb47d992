import { type Caller, confirmCaller } from '../../db/caller'
import { afterResponse, type Db } from '../../db/client'
import { startLoading } from '../../db/parts'
import type { Config } from '../../env'
import { loadPages } from './book-pages'
import { startExport } from './export-plan'
import { loadImages } from './image-pages'
import { type Kind, LIBRARY, MEMOS, SHELVES } from './kinds'
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
    const { page, ...started } = await startExport({ db, caller, memberId, config, query, load }, kind)
    const pages = loadPages(afterResponse(db), caller, kind, started.part, page, load)
    const books = releasing(pages, end)
    await books.next()
    return { ...started, books, load }
  } catch (error) {
    end()
    throw error
  }
}

/** Everything that a member has. @param imageBase the beginning of the URLs of images */
export const exportLibrary = async (db: Db, caller: Caller, config: Config, query: ExportQuery, imageBase: string) => {
  const { load, ...library } = await exportBooks(db, caller, config, query, LIBRARY)
  // The first part has the images.
  const images = library.part.number === 1 ? loadImages(afterResponse(db), caller, load, imageBase) : []
  return { ...library, images }
}

export const exportShelves = (db: Db, caller: Caller, config: Config, query: ExportQuery) =>
  exportBooks(db, caller, config, query, SHELVES)

export const exportMemos = (db: Db, caller: Caller, config: Config, query: ExportQuery) =>
  exportBooks(db, caller, config, query, MEMOS)
