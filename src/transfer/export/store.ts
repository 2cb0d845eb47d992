import { sql } from 'drizzle-orm'
import { type Caller, callerId, requireMember } from '../../db/caller'
import { afterResponse, type Db, sqlStatement } from '../../db/client'
import { startLoading } from '../../db/parts'
import type { Config } from '../../env'
import type { StoredImage } from '../../library/images/responses'
import { START, selectTrash, toTrashItem } from '../../library/trash/store'
import { imageKey } from '../../storage/bucket'
import { toInstant } from '../../values/fields'
import { createListLoader, createRunner, type Runner } from './book-lists'
import { FIRST_PAGE_BOOKS, startExport } from './export-plan'
import { type Kind, LIBRARY } from './kinds'
import type { ExportedImage } from './responses'
import type { ExportQuery } from './schema'

// A page reads the size of each candidate. Their number follows from the number of books in the previous page:
// otherwise, each page of a few large books would read the sizes of hundreds.
const MAX_PAGE_BOOKS = 200

type Started = Awaited<ReturnType<typeof startExport>>

/**
 * Yields an empty page immediately, then the books of a part page by page, one database call each. Calls `end` at the
 * end, or when `return` is called after the first yield.
 */
async function* loadPages<Book>(run: Runner, kind: Kind<Book>, started: Started, end: () => void) {
  const { selectPage, toBook } = kind
  const { after, last } = started.part
  const loadList = createListLoader(run)
  const loadPage = async (after: number, books: number) =>
    (await run({ page: selectPage({ isCounted: 1, after, last, books }) })).page
  try {
    yield []
    let page = started.page ?? (await loadPage(after, FIRST_PAGE_BOOKS))
    for (let at = page.at(-1); at; at = page.at(-1)) {
      yield page.map((row) => toBook(row, loadList))
      if (at.bookId >= last) return
      page = await loadPage(at.bookId, Math.min(MAX_PAGE_BOOKS, 2 * page.length))
    }
  } finally {
    end()
  }
}

/** Images, and entries of the trash. */
const ITEMS_PER_PAGE = 1000

const selectImages = sqlStatement<StoredImage & { imageId: number }>`
  select imageId, memberId, name, type, bytes, createdAt from images
  where memberId = ${callerId} and imageId > :after
  order by imageId limit ${sql.raw(String(ITEMS_PER_PAGE))}`

async function* loadImages(run: Runner, imageBase: string) {
  for (let after = 0, isLast = false; !isLast; ) {
    const { page } = await run({ page: selectImages({ after }) })
    yield page.map(({ memberId, name, type, bytes, createdAt }): ExportedImage => {
      return { name, url: `${imageBase}/${imageKey(memberId, name)}`, type, bytes, createdAt }
    })
    after = page.at(-1)?.imageId ?? after
    isLast = page.length < ITEMS_PER_PAGE
  }
}

async function* loadTrash(run: Runner) {
  for (let at = START, isLast = false; !isLast; ) {
    const { page } = await run({ page: selectTrash({ ...at, limit: ITEMS_PER_PAGE }) })
    yield page.map(toTrashItem)
    const end = page.at(-1)
    if (end) at = { before: end.deletedAt, last: end.trashId }
    isLast = page.length < ITEMS_PER_PAGE
  }
}

type Exporter = { db: Db; caller: Caller; config: Config }

/**
 * Starts an export. Its first page is loaded before this returns, so that a failure can still get an error response;
 * the others are loaded while the response is being sent. The caller must read `books` to the end or call `return`,
 * which releases the lease.
 */
export const exportBooks = async <Book>({ db, caller, config }: Exporter, query: ExportQuery, kind: Kind<Book>) => {
  const member = await requireMember(db, caller)
  const { load, end } = await startLoading(db, member)
  try {
    // By kind, so that a leaked access token does not keep the member from exporting.
    const counter = { secret: config.JWT_SECRET, memberId: member.memberId, kindOfCaller: caller.kind }
    const started = await startExport(createRunner(db, caller, load), counter, query, kind)
    const run = createRunner(afterResponse(db), caller, load)
    const books = loadPages(run, kind, started, end)
    await books.next()
    return { ...started, books, run }
  } catch (error) {
    end()
    throw error
  }
}

/** A part of everything that a member has, with its `file`. @param imageBase the beginning of the URLs of images */
export const exportLibrary = async (exporter: Exporter, query: ExportQuery, imageBase: string) => {
  const { run, books, part, member, rateLimit } = await exportBooks(exporter, query, LIBRARY)
  const { goals, ...profile } = member
  const file = {
    format: 'reading-library',
    version: 1,
    exportedAt: toInstant(part.exportedAt),
    part: part.number,
    last: !part.next,
    member: profile,
    goals: JSON.parse(goals),
    // The first part has the images and the trash.
    images: part.number === 1 ? loadImages(run, imageBase) : [],
    trash: part.number === 1 ? loadTrash(run) : [],
    books,
  }
  return { part, rateLimit, file }
}
