import { type Caller, runAsCaller } from '../../db/caller'
import type { Db } from '../../db/client'
import type { LoadPart } from '../../db/parts'
import { createListLoader } from './book-lists'
import type { Part } from './export-plan'
import type { Kind } from './kinds'

// A page reads the size of each candidate. Their number follows from the number of books in the previous page: otherwise,
// each page of a few large books would read the sizes of hundreds.
const FIRST_PAGE_BOOKS = 50
const MAX_PAGE_BOOKS = 200

/** The first page after a book, in the batch that counts the export. */
export const firstPage = <Row extends { bookId: number }, Book>(
  { selectPage }: Kind<Row, Book>,
  { after, last }: Pick<Part, 'after' | 'last'>,
) => selectPage({ isCounted: 0, after, last, books: FIRST_PAGE_BOOKS })

/** Loads the books of a part page by page, one database call each. `first`: the first page, if it has been loaded. */
export async function* loadPages<Row extends { bookId: number }, Book>(
  db: Db,
  caller: Caller,
  { selectPage, toBook }: Kind<Row, Book>,
  { after, last }: Part,
  first: Row[] | undefined,
  load: LoadPart,
): AsyncGenerator<Book[], void> {
  const loadList = createListLoader(db, caller, load)
  const loadPage = async (from: number, books: number) => {
    const statement = selectPage({ isCounted: 1, after: from, last, books })
    const { page } = await load(() => runAsCaller(db, caller, { page: statement }))
    return page
  }
  let page = first ?? (await loadPage(after, FIRST_PAGE_BOOKS))
  for (let at = page.at(-1); at; at = page.at(-1)) {
    yield page.map((row) => toBook(row, loadList))
    if (at.bookId >= last) return
    page = await loadPage(at.bookId, Math.min(MAX_PAGE_BOOKS, 2 * page.length))
  }
}
