import * as z from 'zod/mini'
import { MAX_INT } from './contract'
import { intParameter } from './fields'

export const MAX_SIZE = 1000
/** The largest page of memos: clients request all memos of a book by sending its `memoCount` as `size`. */
export const MAX_MEMOS_SIZE = 10_000

/** The query parameters of a paged list. */
export const pagingUpTo = (maxSize = MAX_SIZE) =>
  z.object({ page: intParameter(1, MAX_INT), size: intParameter(1, maxSize) })
export const Paging = z.lazy(() => pagingUpTo())
export type Paging = z.infer<typeof Paging>

export type Page<Item> = {
  item: Item[]
  pageInfo: { page: number; size: number; totalElements: number; totalPages: number }
}

export const toPage = <Item>(item: Item[], totalElements: number, { page, size }: Paging): Page<Item> => ({
  item,
  pageInfo: { page, size, totalElements, totalPages: Math.ceil(totalElements / size) },
})

/** Pages beyond this offset are deep: they are read from the nearer end, and few at a time. */
export const DEEP_OFFSET = 5000
export const isDeep = ({ page, size }: Paging) => (page - 1) * size > DEEP_OFFSET

/** The values of the placeholders `limit` and `offset`. */
export const toLimit = ({ page, size }: Paging) => ({ limit: size, offset: (page - 1) * size })
