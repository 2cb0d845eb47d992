import type { CatalogueEdition } from '../../catalogue/schema'
import { runAsCaller } from '../../db/caller'
import { type ConfirmedMember, firstRow } from '../../db/client'
import { findCreated, selectUsed } from '../../db/idempotency'
import type { CallerRequest } from '../../env'
import { found } from '../../errors'
import type { RegisteredBook } from './responses'
import type { BookByIsbn } from './schema'
import { createBook, registeredRow } from './store'

/** Asks the catalogue for an edition, for a member whom the guard has confirmed. */
export type FindEdition = (member: ConfirmedMember, isbn: string) => Promise<CatalogueEdition | undefined>

const selectRegistered = selectUsed<RegisteredBook>(registeredRow)

/**
 * Registers the book that the catalogue has for an ISBN. Fields that the client sent win. Takes two database calls: the
 * first one is the guard, and finds what an earlier request with the same key has registered.
 * @throws ISBN_NOT_FOUND; the errors of `find` and `createBook`
 */
export const registerByIsbn = async (request: CallerRequest, book: BookByIsbn, find: FindEdition) => {
  const { db, caller, config, key } = request
  const { MAX_IDEMPOTENCY_KEYS } = config
  const used = key && firstRow(selectRegistered({ ...key, MAX_IDEMPOTENCY_KEYS }))
  const confirmed = await runAsCaller(db, caller, { used })
  const registered = findCreated(confirmed.used, key, config)
  if (registered) return registered
  const { sourceIds, ...edition } = found(await find(confirmed.member, book.isbn), 'ISBN_NOT_FOUND')
  const ids = sourceIds.length > 0 ? JSON.stringify(sourceIds) : null
  return createBook(request, { ...edition, sourceIds: ids, ...book })
}
