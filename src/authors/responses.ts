import * as z from 'zod'
import { Int32 } from '../schema/values'

export const Author = z.object({ author: z.string().max(500), bookCount: Int32 }).meta({ id: 'Author' })
export type Author = z.infer<typeof Author>
