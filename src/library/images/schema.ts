import * as z from 'zod/mini'
import { IdParameter } from '../../values/fields'

export const MAX_IMAGE_BYTES = 10 * 1024 * 1024

export const ImagePath = z.lazy(() =>
  z.object({
    'member-id': IdParameter,
    name: z.string().check(z.maxLength(27, { error: 'must be at most 27 characters' })),
  }),
)
