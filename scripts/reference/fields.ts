// Shows the fields of a schema: name, type, description, then what limits the values.
import { type Document, resolve, type Schema } from './document.ts'
import { type Html, html } from './html.ts'
import type { Markdown } from './markdown.ts'

const isNull = ({ type }: Schema) => type === 'null'

const toNumber = (value: number) => (value === Number.MAX_SAFE_INTEGER ? '2^53 − 1' : value.toLocaleString('en'))

const toRange = (least: number | undefined, most: number | undefined, unit: string) => {
  if (least === undefined && most === undefined) return []
  if (most === undefined) return [`at least ${toNumber(least ?? 0)}${unit}`]
  return [least === undefined ? `at most ${toNumber(most)}${unit}` : `${toNumber(least)} to ${toNumber(most)}${unit}`]
}

export const createFields = (document: Document, markdown: Markdown) => {
  const nameOf = ({ $ref }: Schema) => $ref?.split('/').at(-1)

  const choicesOf = (schema: Schema) => {
    const { anyOf, oneOf } = resolve(document, schema)
    return anyOf ?? oneOf
  }

  /** The alternatives that a schema allows, without null. */
  const alternativesOf = (schema: Schema) => (choicesOf(schema) ?? [schema]).filter((each) => !isNull(each))

  const toType = (schema: Schema): string => {
    const { type, format, items, const: constant } = resolve(document, schema)
    if (constant !== undefined) return JSON.stringify(constant)
    const choices = choicesOf(schema)?.map((each) => (each.const ? typeof each.const : toType(each)))
    if (choices) return [...new Set(choices)].join(' or ')
    if (format === 'binary') return 'file'
    if (type === 'array') return `array of ${items ? toType(items) : 'any'}`
    if (type === 'object') return nameOf(schema) ?? 'object'
    return Array.isArray(type) ? type.join(' or ') : (type ?? 'any')
  }

  /** What the values of an enumeration mean: the list in its description. */
  const listOfValues = (schema: Schema) => {
    const [named] = alternativesOf(schema).filter(({ $ref }) => $ref)
    // Without the description of the field.
    const { enum: values, description = '' } = named ? resolve<Schema>(document, { $ref: named.$ref }) : schema
    return values && description.match(/\n\n(- [\s\S]+)$/)?.[1]
  }

  /** Limits of numbers, lengths and values, and the patterns of what is sent, which few people read. */
  const toLimits = (schema: Schema, isSent: boolean): Html => {
    const all = alternativesOf(schema).map((each) => resolve(document, each))
    const limits = all.flatMap((each) => [
      ...toRange(each.minimum, each.maximum, ''),
      ...toRange(each.minLength, each.maxLength, ' characters'),
      ...toRange(each.minItems, each.maxItems, ' items'),
    ])
    const values = listOfValues(schema) ? [] : all.flatMap((each) => each.enum ?? [])
    const patterns = isSent ? all.flatMap((each) => each.pattern ?? []) : []
    return html`${limits.length > 0 && html`<p class="limits">${limits.join('; ')}</p>`}
${values.length > 0 && html`<p class="limits">One of ${values.map((value, at) => html`${at > 0 && ', '}<code>${value}</code>`)}</p>`}
${patterns.length > 0 && html`<details class="pattern"><summary>Pattern</summary>${patterns.map((pattern) => html`<code>${pattern}</code>`)}</details>`}`
  }

  /** The schemas of objects inside a schema. */
  const objectsIn = (schema: Schema): Schema[] =>
    alternativesOf(schema).flatMap((each) => {
      const target = resolve(document, each)
      if (target.properties) return [each]
      return target.items ? objectsIn(target.items) : []
    })

  const toDescription = (schema: Schema) => {
    const text = schema.description ?? resolve(document, schema).description ?? ''
    const values = listOfValues(schema)
    return html`${markdown.toHtml(text)}${values && !text.endsWith(values) && markdown.toHtml(values)}`
  }

  const toField = (name: string, schema: Schema, isRequired: boolean, isSent: boolean, outer: string[]): Html => {
    const nested = objectsIn(schema).filter((each) => !outer.includes(nameOf(each) ?? ''))
    const presence = isSent ? isRequired && 'required' : !isRequired && 'may be absent'
    return html`<li><p class="field"><code>${name}</code> <span class="type">${toType(schema)}</span>
      ${presence && html` <span class="presence">${presence}</span>`}</p>
      ${toDescription(schema)}${toLimits(schema, isSent)}${schema.items && toLimits(schema.items, isSent)}
      ${nested.map((each) => html`<details${outer.length < 2 && schema.items && html` open`}><summary>Fields${nameOf(each) && ` of ${nameOf(each)}`}</summary>${toFields(each, isSent, outer)}</details>`)}</li>`
  }

  /**
   * The fields of an object, or those of the objects in an array.
   * @param outer the names of the schemas around it, which are not shown again
   */
  const toFields = (schema: Schema, isSent: boolean, outer: string[] = []): Html => {
    const [first, ...others] = objectsIn(schema)
    if (!first) return html`<ul class="fields"><li>${toDescription(schema)}${toLimits(schema, isSent)}</li></ul>`
    if (others.length > 0) {
      const variants = [first, ...others]
      return html`${variants.map((each) => html`<details><summary>${nameOf(each)}</summary>${toFields(each, isSent, outer)}</details>`)}`
    }
    const { properties = {}, required = [] } = resolve(document, first)
    const within = [...outer, nameOf(first) ?? '']
    const fields = Object.entries(properties).map(([name, property]) =>
      toField(name, property, required.includes(name), isSent, within),
    )
    return html`<ul class="fields">${fields}</ul>`
  }

  return { toType, toLimits, toDescription, toFields }
}
export type Fields = ReturnType<typeof createFields>
