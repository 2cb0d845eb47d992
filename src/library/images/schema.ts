import * as z from 'zod/mini'
import { IdParameter } from '../../values/fields'

export const ImagePath = z.lazy(() =>
  z.object({
    'member-id': IdParameter,
    name: z.string().check(z.maxLength(27, { error: 'must be at most 27 characters' })),
  }),
)
