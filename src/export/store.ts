import type { Caller } from '../db/caller'
import { afterResponse, type Db } from '../db/client'
import type { Config } from '../env'
import { loadBooks, SELECT_PAGE, type ShelvedRow } from './books'
import { loadImages } from './images'
import { toBook } from './library'
import { type BookWithMemos, toBookWithMemos } from './markdown'
import { startExport } from './plan'
import type { ExportQuery } from './schema'

// The pages of an export are loaded while it is being sent. Whoever receives `books` must read them to the end or call
// `return`, which releases what they hold.

type Started = Pick<Awaited<ReturnType<typeof startExport>>, 'part' | 'rateLimit'>
export type Export<Book = unknown> = Started & { books: AsyncGenerator<Book[], void> }

/** Everything that a member has. @param toUrl the URL of an image */
export const exportLibrary = async (
  db: Db,
  caller: Caller,
  config: Config,
  query: ExportQuery,
  toUrl: (memberId: number, name: string) => string,
) => {
  const { memberId, member, ...started } = await startExport(db, caller, config, 'library', query)
  const { pages: books, load } = await loadBooks(db, caller, started.part, SELECT_PAGE.library, toBook)
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
  return { ...started, member, images: started.part.number === 1 ? listImages() : [], books }
}

/** The books with their readings. */
export const exportShelves = async (
  db: Db,
  caller: Caller,
  config: Config,
  query: ExportQuery,
): Promise<Export<ShelvedRow>> => {
  const { part, rateLimit } = await startExport(db, caller, config, 'books', query)
  const { pages } = await loadBooks(db, caller, part, SELECT_PAGE.books, (book) => book)
  return { part, rateLimit, books: pages }
}

/** The books that have memos, with these. */
export const exportMemos = async (
  db: Db,
  caller: Caller,
  config: Config,
  query: ExportQuery,
): Promise<Export<BookWithMemos>> => {
  const { part, rateLimit } = await startExport(db, caller, config, 'memos', query)
  const { pages } = await loadBooks(db, caller, part, SELECT_PAGE.memos, toBookWithMemos)
  return { part, rateLimit, books: pages }
}
