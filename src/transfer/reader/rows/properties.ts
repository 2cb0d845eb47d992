import * as z from 'zod/mini'
import { MAX_CONTENT } from '../../../library/memos/schema'
import { MAX_NAME } from '../../../values/contract'
import { nullableText } from '../../../values/fields'
import type { Code } from '../../entry'
import type { Row } from './row'
import { cutText } from './values'

/** A value that a schema of requests accepts and does not change. Undefined for others. */
export const exactly =
  <Value>(schema: z.ZodMiniType<Value>) =>
  (value: unknown) => {
    const { data } = schema.safeParse(value)
    return data === value ? data : undefined
  }

const Name = nullableText(MAX_NAME)
const Content = nullableText(MAX_CONTENT)
const List = z.custom<unknown[]>(Array.isArray)

/** Refuses values of a list that repeat an earlier one. */
export const unique = <Value>(
  check: (item: unknown) => Value | undefined,
  toKey: (value: Value) => string = String,
) => {
  const seen = new Set<string>()
  return (item: unknown) => {
    const value = check(item)
    if (value === undefined || seen.has(toKey(value))) return undefined
    seen.add(toKey(value))
    return value
  }
}

/** Reads the properties of an object. Invalid values become null, with a loss. */
export const propertiesOf = ({ lose }: Row, values: Record<string, unknown>, prefix = '') => {
  const get = <Value>(name: string, schema: z.ZodMiniType<Value>, code: Code = 'bad-row') => {
    const stored = Object.hasOwn(values, name) ? (values[name] ?? null) : null
    const value = stored === null ? null : exactly(schema)(stored)
    if (value === undefined) lose(code, `${prefix}${name}`)
    return value ?? null
  }
  /** A text, cut to `max` characters if it is too long. */
  const getText = (name: string, schema: z.ZodMiniType<string | null>, max: number, code: Code) => {
    const stored = values[name]
    const isLong = typeof stored === 'string' && stored.length > max && exactly(schema)(stored) === undefined
    if (!isLong) return get(name, schema)
    lose(code, `${prefix}${name}`)
    return exactly(schema)(cutText(stored, max)) ?? null
  }
  const getName = (name: string) => getText(name, Name, MAX_NAME, 'too-long')
  const getContent = (name: string) => getText(name, Content, MAX_CONTENT, 'review-truncated')
  /** The items of a list that can be read. */
  const getList = <Item>(name: string, max: number, read: (item: unknown, at: number) => Item | undefined): Item[] => {
    const stored = get(name, List) ?? []
    if (stored.length > max) lose('too-many', name)
    return stored.slice(0, max).flatMap((item, at) => {
      const value = read(item, at)
      if (value === undefined) lose('bad-row', `${name} ${at + 1}`)
      return value === undefined ? [] : [value]
    })
  }
  return { get, getName, getContent, getList }
}
