import * as z from 'zod/mini'
import { Int32 } from '../../values/fields'
import { TagName } from './schema'

export const Tag = z.object({ tag: TagName, bookCount: Int32 }).register(z.globalRegistry, { id: 'Tag' })
export type Tag = z.infer<typeof Tag>
