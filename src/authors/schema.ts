import * as z from 'zod'
import { cursorPaging } from '../schema/cursor'
import { Int32 } from '../schema/values'

export const Author = z.object({ author: z.string().max(500), bookCount: Int32 }).meta({ id: 'Author' })
export type Author = z.infer<typeof Author>

/** The cursor is the key of the last author. */
export const AuthorsQuery = cursorPaging(z.string())
export type AuthorsQuery = z.infer<typeof AuthorsQuery>
