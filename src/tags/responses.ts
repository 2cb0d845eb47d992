import * as z from 'zod'
import { Int32 } from '../schema/values'
import { TagName } from './schema'

export const Tag = z.object({ tag: TagName, bookCount: Int32 }).meta({ id: 'Tag' })
export type Tag = z.infer<typeof Tag>
