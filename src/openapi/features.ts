// The operations and descriptions of all features.

import { emailChangeReference } from '../accounts/email-change/responses'
import { linksReference } from '../accounts/links/responses'
import { membersReference } from '../accounts/members/responses'
import { recoveryReference } from '../accounts/recovery/responses'
import { sessionsReference } from '../accounts/sessions/responses'
import { tokensReference } from '../accounts/tokens/responses'
import { catalogueReference } from '../catalogue/responses'
import { deviceChangesReference } from '../devices/changes/responses'
import { documentsReference } from '../devices/documents/responses'
import type { Descriptions, FeatureReference, Operation } from '../http/description/feature-reference'
import { authorsReference } from '../library/authors/responses'
import { bookListReference } from '../library/books/list/responses'
import { manyBooksReference } from '../library/books/many/responses'
import { booksReference } from '../library/books/responses'
import { editionsReference } from '../library/editions/responses'
import { goalsReference } from '../library/goals/responses'
import { imagesReference } from '../library/images/responses'
import { linkViewsReference } from '../library/link-views/responses'
import { lookupReference } from '../library/lookup/responses'
import { memosReference } from '../library/memos/responses'
import { progressReference } from '../library/progress/responses'
import { readingsReference } from '../library/readings/responses'
import { screensReference } from '../library/screens/responses'
import { searchReference } from '../library/search/responses'
import { sittingsReference } from '../library/sittings/responses'
import { statsReference } from '../library/stats/responses'
import { tagsReference } from '../library/tags/responses'
import { trashReference } from '../library/trash/responses'
import { healthReference } from '../reference/health/responses'
import { changesReference } from '../transfer/changes/responses'
import { exportReference } from '../transfer/export/responses'
import { importsReference } from '../transfer/imports/responses'

const FEATURES: FeatureReference[] = [
  membersReference,
  recoveryReference,
  emailChangeReference,
  sessionsReference,
  tokensReference,
  deviceChangesReference,
  linksReference,
  linkViewsReference,
  booksReference,
  bookListReference,
  manyBooksReference,
  editionsReference,
  authorsReference,
  screensReference,
  progressReference,
  sittingsReference,
  readingsReference,
  tagsReference,
  memosReference,
  trashReference,
  searchReference,
  statsReference,
  goalsReference,
  imagesReference,
  importsReference,
  exportReference,
  documentsReference,
  changesReference,
  catalogueReference,
  lookupReference,
  healthReference,
]

/** Every operation with its tag, by method and path. */
export const OPERATIONS: ReadonlyMap<string, Operation & { tag: string }> = new Map(
  FEATURES.flatMap(({ tag, operations }) =>
    Object.entries(operations).map(([key, operation]) => [key, { ...operation, tag }] as const),
  ),
)

/** Descriptions of lists and errors. */
const SHARED: Descriptions = {
  schemas: {
    ErrorCode:
      'The code of an error. The introduction lists all codes. New codes may be added: treat an unknown one by its HTTP status.',
    ErrorResponse: 'The body of every error. All four keys are always present.',
    FieldError: 'An invalid field of the body.',
    PageInfo: 'The position of a page in its list.',
    ViolationError: 'An invalid parameter in the path or the query.',
  },
  properties: {
    bookCount: 'Number of books.',
    createdAt: 'When it was created.',
    field: 'Name of the field.',
    fieldErrors: 'One entry for each invalid field of the body, or null.',
    item: 'The items of this page. Empty past the end of the list.',
    message:
      'Human-readable message. Null if `fieldErrors` or `violationErrors` has entries. May be reworded: do not compare it.',
    next: 'The `cursor` of the next page. Null at the end of the list.',
    page: 'Number of this page, starting at 1.',
    pageInfo: 'The position of this page in the list.',
    propertyPath: 'Name of the parameter.',
    reason: 'Human-readable rule that the value violates. May be reworded.',
    rejectedValue: 'The value that was sent; null if it was absent or a file. It may be a password: do not log it.',
    size: 'The page size that was requested.',
    status: 'The HTTP status. 0 if `fieldErrors` or `violationErrors` has entries.',
    totalElements: 'Number of items on all pages.',
    totalPages: 'Number of pages. 0 if the list is empty.',
    violationErrors: 'One entry for each invalid parameter, or null.',
  },
  parameters: {
    cursor:
      'The `next` of the previous page, which was requested with the same other parameters. First page if absent.',
    page: 'Number of the page, starting at 1.',
    size: 'Number of items on a page.',
  },
}

/** All descriptions. */
export const DESCRIPTIONS: (Descriptions & Partial<FeatureReference>)[] = [SHARED, ...FEATURES]

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
 * A feature that does not describe a property uses the description in another one, if there is only one.
 * @param schema the name of a schema, or the operation whose form has the property
 */
export const describeProperty = (schema: string, property: string) => {
  const own = DESCRIPTIONS.filter(
    ({ schemas, operations = {} }) =>
      schemas?.[schema] || Object.values(operations).some(({ operationId }) => operationId === schema),
  )
  const lists = [...own.flatMap(({ ownProperties, properties }) => [ownProperties, properties]), SHARED.properties]
  const names = [`${schema}.${property}`, property]
  for (const list of lists) for (const name of names) if (list?.[name]) return list[name]
  const [only, ...further] = DESCRIPTIONS.flatMap(({ properties }) => properties?.[property] ?? [])
  if (only && further.length === 0) return only
  throw new Error(`Its responses.ts must describe ${schema}.${property}: ${only ? 'several features do' : 'none does'}`)
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
