// What responses.ts tells the API reference. The Worker imports only types: docs/decisions/0022-descriptions-of-the-api.md.
import type * as z from 'zod/mini'
import type { ErrorCode } from '../../errors'
import type { HeaderName, RequestHeaderName } from './header-components'
import type { RouteMetadata } from './route-metadata'

export type ResponseDescription = {
  description: string
  /** A schema per media type, or `binary`. */
  content?: Record<string, z.ZodMiniType | 'binary'>
  headers?: HeaderName[]
}

/** What the document says of an operation beyond the metadata of its route. */
export type Operation = {
  /** Verb and noun; generated clients use it as the method name. */
  operationId: string
  summary: string
  description: string
  /** The path parameters, for a route that answers invalid ones with 404 instead of validating them. */
  pathParameters?: z.ZodMiniType
  /** The request headers that have an effect on this operation. */
  requestHeaders?: RequestHeaderName[]
  /** It counts attempts: its responses show the limit, and 429 refuses further ones. */
  countsAttempts?: true
  /** An invalid field may also count as an attempt. */
  countsInvalidFields?: true
  /** It uses the database. Operations for members, and those that count attempts, always do. */
  usesDatabase?: true
  responses: Record<number, ResponseDescription>
  /** Further errors: those of authentication, limits, validation and identifiers in the path are added. */
  errors?: ErrorCode[]
}

/** An operation and the metadata of its route. */
export type Route = RouteMetadata & Operation & { tag: string; method: string; path: string }

export const needsDatabase = ({ membersOnly, countsAttempts, usesDatabase }: Route) =>
  membersOnly ?? countsAttempts ?? usesDatabase

/** The tags, in the order in which the document shows them. */
export const TAGS = {
  Members: 'Sign up, log in, and manage your profile.',
  Sessions: 'The devices where you are logged in, and the activity of your account.',
  'Access tokens': 'Tokens for scripts and other apps, limited to scopes.',
  Links: 'Views of a part of your library for everyone who has the address, without an account.',
  Books: 'Your books, and lists of them.',
  Progress: 'How far you have read your books, and when.',
  Readings: 'Each time that you read a book, with dates, rating and note.',
  Tags: 'Tags on your books.',
  Memos: 'Memos on your books, and the images in them.',
  Trash: 'Restore what you have deleted.',
  Search: 'Search your books and memos.',
  Statistics: 'Your year in books: figures, the rows behind them, a picture, and goals.',
  Images: 'Load, list and delete uploaded images.',
  Import: 'Add books from another service, a reading device or an export.',
  Export: 'Download all your data, your books or your memos.',
  Devices: 'What reading devices have sent: the documents that they read, with their books, and an undo.',
  Sync: 'Keep a copy of your library up to date.',
  Catalogue: 'Look up books in an external catalogue.',
  Health: 'Check the health of the service.',
}

/** The descriptions of schemas, properties and parameters: one line each, without links to other documents. */
export type Descriptions = {
  /** Enumerations with the meaning of each value. */
  schemas?: Record<string, string>
  /**
   * By name, or by schema and name where one schema uses a name differently. They also apply to schemas of other
   * features, if no other feature describes that name.
   */
  properties?: Record<string, string>
  /** The same, but only for the schemas of this feature. */
  ownProperties?: Record<string, string>
  /** Path and query parameters by name, or by operation and name, for all features. */
  parameters?: Record<string, string>
}

/** What the document says of a feature. */
export type FeatureReference = Descriptions & {
  tag: keyof typeof TAGS
  /** By method and path, such as `GET /books/{book-id}`. */
  operations: Record<string, Operation>
}

/** A JSON response. */
export const json = (schema: z.ZodMiniType, description: string, ...headers: HeaderName[]): ResponseDescription => ({
  description,
  content: { 'application/json': schema },
  headers,
})

/** A response without a body. */
export const empty = (description: string, ...headers: HeaderName[]): ResponseDescription => ({ description, headers })

/** Phrases of several descriptions. */
export const WELL_FORMED = 'Must be well-formed Unicode'
export const COVER_SENT =
  'URL of the cover: an `http` or `https` URL that `new URL()` accepts. An empty string is stored as null.'
export const NULLABLE_SENT = `${WELL_FORMED}. An empty string is stored as null.`
