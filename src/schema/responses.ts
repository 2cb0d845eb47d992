import * as z from 'zod'
import { MAX_INT } from '../contract'
import type * as errors from '../errors'
import { MAX_CURSOR, MAX_LIST_SIZE } from './cursor'
import { MAX_MEMOS_SIZE, MAX_SIZE } from './paging'
import { Int32, int } from './values'

/** An identifier in a response. */
export const Id = z.int().min(1)

/** A timestamp in a response. */
export const LocalTime = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)

/** A point in time in a response: UTC, to the second. */
export const Instant = z.iso.datetime({ precision: 0 })

const PageInfo = z
  .object({ page: int(1, MAX_INT), size: int(1, MAX_MEMOS_SIZE), totalElements: Int32, totalPages: Int32 })
  .meta({ id: 'PageInfo' })
export type PageInfo = z.infer<typeof PageInfo>

/** The envelope of every paged list. The document calls it `<id of the item>Page`. */
export const pageOf = <Item extends z.ZodType>(item: Item, maxSize = MAX_SIZE) =>
  z.object({ item: z.array(item).max(maxSize), pageInfo: PageInfo }).meta({ id: `${item.meta()?.id}Page` })

/** The envelope of a list with a cursor; `next` is null at the end. Its schema is named `<id of the item>List`. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .object({ item: z.array(item).max(MAX_LIST_SIZE), next: z.string().max(MAX_CURSOR).nullable() })
    .meta({ id: `${item.meta()?.id}List` })

const FieldError = z
  .object({ field: z.string(), rejectedValue: z.unknown(), reason: z.string() })
  .meta({ id: 'FieldError' })

const ViolationError = z
  .object({ propertyPath: z.string(), rejectedValue: z.unknown(), reason: z.string() })
  .meta({ id: 'ViolationError' })

export const ErrorBody = z
  .object({
    status: z.int().min(0).max(599),
    message: z.string().nullable(),
    fieldErrors: z.array(FieldError).nullable(),
    violationErrors: z.array(ViolationError).nullable(),
  })
  .meta({ id: 'ErrorResponse' }) satisfies z.ZodType<errors.ErrorBody>
