import type { Descriptions } from '../http/description/feature-reference'
import { DESCRIPTIONS } from './features'

type Schema = { $ref?: string; description?: string; default?: unknown; properties?: Record<string, Schema> }
type Parameter = { $ref?: string; name?: string; description?: string; schema?: Schema }
type Document = {
  paths?: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>
  components?: { schemas?: Record<string, Schema> }
}

const find = (part: keyof Descriptions, names: string[], features = DESCRIPTIONS) => {
  for (const name of names) {
    const feature = features.find(({ [part]: texts }) => texts?.[name])
    if (feature) return feature[part]?.[name]
  }
  throw new Error(`No responses.ts describes ${names[0]}, one of the ${part}`)
}

/**
 * @param schema the name of a schema, or the operation whose form has the property
 * @throws Error if there is no description
 */
export const describeProperty = (schema: string, property: string) => {
  const own = DESCRIPTIONS.filter(({ schemas }) => schemas?.[schema])
  return find('properties', [`${schema}.${property}`, property], [...own, ...DESCRIPTIONS])
}

/**
 * Adds the descriptions of all named schemas, their properties and the parameters.
 * @throws Error if one is missing
 */
export const addDescriptions = (document: object) => {
  const { paths = {}, components } = document as Document
  for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
    schema.description = find('schemas', [name])
    for (const [property, value] of Object.entries(schema.properties ?? {})) {
      value.description = describeProperty(name, property)
      // Generators treat a field with a default as required; the description states it.
      delete value.default
    }
  }
  for (const { operationId, parameters = [] } of Object.values(paths).flatMap((item) => Object.values(item))) {
    for (const parameter of parameters) {
      if (!parameter.name) continue
      const value = parameter.schema?.default
      const note = value === undefined ? '' : ` Default: \`${value}\`.`
      parameter.description = `${find('parameters', [`${operationId}.${parameter.name}`, parameter.name])}${note}`
      delete parameter.schema?.default
    }
  }
}
