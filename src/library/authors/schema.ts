import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'

/** The cursor is the key of the last author. */
export const AuthorsQuery = z.lazy(() => cursorPaging(z.string()))
export type AuthorsQuery = z.infer<typeof AuthorsQuery>
