import * as z from 'zod/mini'

/** Names a schema, which the document then has as a component. */
export const named = <Schema extends z.ZodMiniType>(id: string, schema: Schema): Schema => {
  z.globalRegistry.add(schema as z.ZodMiniType, { id })
  return schema
}

/** A named object. */
export const namedObject = <Shape extends z.core.$ZodShape>(id: string, shape: Shape) => named(id, z.object(shape))

/** A named schema that is built at its first use. */
export const namedLazy = <Schema extends z.ZodMiniType>(id: string, build: () => Schema) =>
  z.lazy(() => named(id, build()))
