import * as z from 'zod/mini'
import { MAX_INT } from './contract'
import { MAX_CURSOR, MAX_LIST_SIZE } from './cursor'
import { Int32, int } from './fields'
import { named, namedObject } from './named'
import { MAX_MEMOS_SIZE, MAX_SIZE } from './paging'

/** A text in a response. */
export const textUpTo = (max: number) => z.string().check(z.maxLength(max))

/** A list in a response. */
export const listUpTo = <Item extends z.ZodMiniType>(max: number, item: Item) => z.array(item).check(z.maxLength(max))

/** An identifier in a response. */
export const Id = z.int().check(z.minimum(1))

/** A timestamp in a response. */
export const LocalTime = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/))

/** A point in time in a response: UTC, to the second. */
export const Instant = z.iso.datetime({ precision: 0 })

const PageInfo = named(
  'PageInfo',
  z.object({ page: int(1, MAX_INT), size: int(1, MAX_MEMOS_SIZE), totalElements: Int32, totalPages: Int32 }),
)

const nameOf = (schema: z.ZodMiniType) => z.globalRegistry.get(schema)?.id

/** The envelope of every paged list. The document calls it `<id of the item>Page`. */
export const pageOf = <Item extends z.ZodMiniType>(item: Item, maxSize = MAX_SIZE) =>
  namedObject(`${nameOf(item)}Page`, { item: listUpTo(maxSize, item), pageInfo: PageInfo })

/** The envelope of a list with a cursor; `next` is null at the end. Its schema is named `<id of the item>List`. */
export const listOf = <Item extends z.ZodMiniType>(item: Item) =>
  namedObject(`${nameOf(item)}List`, {
    item: listUpTo(MAX_LIST_SIZE, item),
    next: z.nullable(textUpTo(MAX_CURSOR)),
  })
