// What a member may do, as random commands: each sends a request, and changes the model in the same way.
import * as fc from 'fast-check'
import type { Library } from './library'

export type Request = { method: string; path: string; body?: unknown; headers?: Record<string, string> }
export type Answer = { status: number; body: unknown; headers: Headers }
/** Without a body, any will do: errors have their own tests. */
export type Expected = { status: number; body?: unknown }
/**
 * `respond` changes the model, which may have changed since the attempt, and returns what the service should answer. It
 * takes new identifiers and versions from the answer.
 */
export type Attempt = Request & {
  respond: (library: Library, body: Record<string, unknown>, etag: string | null) => Expected
}

export type Command = {
  name: string
  /** Returns undefined if there is nothing to act on. */
  attempt: (library: Library) => Attempt | undefined
  /** What a failure prints. */
  toString: () => string
}

export type Commands = { weight: number; arbitrary: fc.Arbitrary<Command> }

/** A kind of command, with random values. `weight`: how often it occurs, relative to the others. */
export const command = <Values>(
  name: string,
  weight: number,
  values: fc.Arbitrary<Values>,
  attempt: (library: Library, values: Values) => Attempt | undefined,
): Commands => ({
  weight,
  arbitrary: values.map((each) => ({
    name,
    attempt: (library) => attempt(library, each),
    toString: () => `${name} ${fc.stringify(each)}`,
  })),
})

/** Selects one of a list that is not known before the command runs. */
export const position = fc.nat(99)
export const at = <Item>(items: Item[], index: number) => items[index % items.length]

/** A patch with any of the fields. */
export const anyOf = <Fields extends Record<string, unknown>>(
  fields: {
    [Name in keyof Fields]: fc.Arbitrary<Fields[Name]>
  },
) => fc.record(fields, { requiredKeys: [] })

export const NOT_FOUND: Expected = { status: 404 }
