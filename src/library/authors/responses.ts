import * as z from 'zod/mini'
import { Int32 } from '../../values/fields'

export const Author = z
  .object({ author: z.string().check(z.maxLength(500)), bookCount: Int32 })
  .register(z.globalRegistry, { id: 'Author' })
export type Author = z.infer<typeof Author>
