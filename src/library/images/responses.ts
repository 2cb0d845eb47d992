import * as z from 'zod/mini'
import { IMAGE_TYPES } from '../../values/contract'
import { Id, LocalTime } from '../../values/responses'

/** A row of the images table. */
export const StoredImage = z.object({
  memberId: Id,
  name: z.string().check(z.maxLength(27)),
  type: z.enum(IMAGE_TYPES),
  bytes: z.int().check(z.minimum(1)),
  createdAt: LocalTime,
})
export type StoredImage = z.infer<typeof StoredImage>

export const Image = z
  .extend(StoredImage, { url: z.url().check(z.maxLength(4096)) })
  .register(z.globalRegistry, { id: 'Image' })
