import { findEdition, type Lookup, searchEditions } from '../../catalogue/store'
import { requireMember, runAsCaller } from '../../db/caller'
import type { Variables } from '../../env'
import { selectByIsbn } from '../editions/store'
import type { IsbnLookup } from './responses'

type MemberRequest = Pick<Variables, 'db' | 'caller' | 'config'> & Pick<Lookup, 'env'>

/**
 * The caller's books with an ISBN-13, and the edition in the catalogue.
 * @throws the errors of `findEdition`
 */
export const lookUpIsbn = async ({ caller, ...request }: MemberRequest, isbn: string): Promise<IsbnLookup> => {
  const { books, member } = await runAsCaller(request.db, caller, { books: selectByIsbn({ isbn }) })
  const edition = await findEdition({ ...request, member }, isbn)
  return { isbn, bookCount: books.length, books, edition: edition ?? null }
}

/** @throws the errors of `findEdition` */
export const searchAsMember = async ({ caller, ...request }: MemberRequest, titleOrAuthor: string) =>
  searchEditions({ ...request, member: await requireMember(request.db, caller) }, titleOrAuthor)
