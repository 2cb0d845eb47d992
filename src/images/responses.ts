import * as z from 'zod'
import { IMAGE_TYPES } from '../contract'
import { Id, LocalTime } from '../schema/responses'

/** A row of the images table. */
export const StoredImage = z.object({
  memberId: Id,
  name: z.string().max(27),
  type: z.enum(IMAGE_TYPES),
  bytes: z.int().min(1),
  createdAt: LocalTime,
})
export type StoredImage = z.infer<typeof StoredImage>

export const Image = StoredImage.extend({ url: z.url().max(4096) }).meta({ id: 'Image' })
