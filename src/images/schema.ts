import * as z from 'zod'
import { IdParameter } from '../schema/values'

export const ImagePath = z.object({
  'member-id': IdParameter,
  name: z.string().max(27, { error: 'must be at most 27 characters' }),
})
