import * as z from 'zod/mini'

/** Names a schema, which the document then has as a component. */
export const named = <Schema extends z.ZodMiniType>(id: string, schema: Schema): Schema => {
  z.globalRegistry.add(schema as z.ZodMiniType, { id })
  return schema
}

const lenientUnions = new WeakSet<object>()
export const isLenient = (schema: object) => lenientUnions.has(schema)

/** A union of which clients and the document see only the first choice. Older clients send the others. */
export const lenient = <First extends z.ZodMiniType>(
  choices: readonly [First, ...z.ZodMiniType[]],
  error: z.core.$ZodErrorMap<z.core.$ZodIssueInvalidUnion>,
) => {
  const union = z.union(choices, { error })
  lenientUnions.add(union)
  return union as unknown as z.ZodMiniType<z.output<First>, z.input<First>>
}

export type Caught = { error: { issues: { message: string }[] }; input: unknown }
/** `z.catch`, which would bundle all of zod's utilities. `toValue` gets nothing when the document is built. */
export const withFallback = <Schema extends z.ZodMiniType>(
  innerType: Schema,
  toValue: (caught?: Caught) => z.output<Schema>,
) => new z.ZodMiniCatch({ type: 'catch', innerType, catchValue: toValue }) as z.ZodMiniCatch<Schema>

/** A named object. */
export const namedObject = <Shape extends z.core.$ZodShape>(id: string, shape: Shape) => named(id, z.object(shape))

/** A named schema that is built at its first use. */
export const namedLazy = <Schema extends z.ZodMiniType>(id: string, build: () => Schema) =>
  z.lazy(() => named(id, build()))
