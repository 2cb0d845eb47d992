import { PARAMETERS, PROPERTIES, SCHEMAS } from './descriptions'

type Schema = { $ref?: string; description?: string; properties?: Record<string, Schema> }
type Parameter = { $ref?: string; name?: string; description?: string; schema?: Schema }
type Document = {
  paths?: Record<string, Record<string, { parameters?: Parameter[] }>>
  components?: { schemas?: Record<string, Schema> }
}

const find = (descriptions: Record<string, string>, name: string, ...fallbacks: string[]) => {
  const known = [name, ...fallbacks].find((each) => descriptions[each])
  if (!known) throw new Error(`src/openapi/descriptions.ts lacks ${name}`)
  return descriptions[known]
}

/** @throws Error if there is no description */
export const describeProperty = (schema: string, property: string) =>
  find(PROPERTIES, `${schema}.${property}`, property)

/**
 * Adds the descriptions of all named schemas, their properties and the parameters.
 * @throws Error if one is missing
 */
export const addDescriptions = (document: object) => {
  const { paths = {}, components } = document as Document
  for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
    schema.description = find(SCHEMAS, name)
    for (const [property, value] of Object.entries(schema.properties ?? {})) {
      value.description = describeProperty(name, property)
    }
  }
  for (const { parameters = [] } of Object.values(paths).flatMap((item) => Object.values(item))) {
    for (const parameter of parameters) {
      if (parameter.name) parameter.description = find(PARAMETERS, parameter.name)
    }
  }
}
