import * as z from 'zod'
import { MAX_INT } from '../db/schema'
import { intParameter } from './values'

export const Paging = z.object({ page: intParameter(1, MAX_INT), size: intParameter(1, 1000) })
export type Paging = z.infer<typeof Paging>

export const PageInfo = z
  .object({ page: z.int(), size: z.int(), totalElements: z.int(), totalPages: z.int() })
  .meta({ id: 'PageInfo' })

/** The envelope of every paged list. */
export const pageOf = <Item extends z.ZodType>(item: Item) => z.object({ item: z.array(item), pageInfo: PageInfo })
export type Page<Item> = { item: Item[]; pageInfo: z.infer<typeof PageInfo> }

export const toPage = <Item>(item: Item[], totalElements: number, { page, size }: Paging): Page<Item> => ({
  item,
  pageInfo: { page, size, totalElements, totalPages: Math.ceil(totalElements / size) },
})

/** The values of the placeholders `limit` and `offset`. */
export const toLimit = ({ page, size }: Paging) => ({ limit: size, offset: (page - 1) * size })
