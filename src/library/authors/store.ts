import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { limit } from '../../db/parameters'
import { toCursor } from '../../values/cursor'
import type { Author } from './responses'
import type { AuthorsQuery } from './schema'

const selectAuthors = sqlStatement<Author & { authorKey: string }>`
  select author, bookCount, authorKey from authors
  where memberId = ${callerId} and authorKey > :after order by authorKey limit ${limit}`

/** The authors of the caller's books, by key. */
export const listAuthors = async (db: Db, caller: Caller, { cursor = '', size }: AuthorsQuery) => {
  const { authors } = await runAsCaller(db, caller, { authors: selectAuthors({ after: cursor, limit: size + 1 }) })
  const page = authors.slice(0, size)
  return {
    item: page.map(({ author, bookCount }) => ({ author, bookCount })),
    next: authors.length > size ? toCursor(page.at(-1)?.authorKey) : null,
  }
}
