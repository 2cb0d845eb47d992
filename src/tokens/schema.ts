import * as z from 'zod'
import { HINT_LENGTH } from '../access-token'
import { SCOPES } from '../contract'
import { FutureInstant, filledText, Instant, orRequired } from '../schema/values'

/** The most access tokens of a member. Expired ones do not count. */
export const MAX_TOKENS = 50

const MAX_NAME = 100
const NAMES = Object.keys(SCOPES) as (keyof typeof SCOPES)[]
const Scope = z.enum(NAMES, { error: `must be one of ${NAMES.join(', ')}` }).meta({ id: 'Scope' })

const Scopes = z
  .array(Scope, { error: orRequired('must be an array of scopes') })
  .min(1, { error: 'must have at least one scope' })
  .max(NAMES.length, { error: 'must not repeat a scope' })
  .refine((scopes) => new Set(scopes).size === scopes.length, { error: 'must not repeat a scope' })

export const NewToken = z
  .object({ name: filledText(MAX_NAME), scopes: Scopes, expiresAt: FutureInstant.nullish() })
  .meta({ id: 'NewToken' })
export type NewToken = z.infer<typeof NewToken>

const fields = {
  tokenId: z.uuid(),
  name: z.string().max(MAX_NAME),
  scopes: z.array(Scope).max(NAMES.length),
  createdAt: Instant,
  expiresAt: Instant.nullable(),
}

/** The only response with the token itself. */
export const CreatedToken = z
  .object({ ...fields, token: z.string().regex(/^rl_[\dA-Za-z]{36}$/) })
  .meta({ id: 'CreatedToken' })
export type CreatedToken = z.infer<typeof CreatedToken>

export const AccessToken = z
  .object({ ...fields, hint: z.string().max(HINT_LENGTH), lastUsedAt: z.iso.date().nullable() })
  .meta({ id: 'AccessToken' })
export type AccessToken = z.infer<typeof AccessToken>

export const TokenPath = z.object({ 'token-id': z.uuid({ error: 'must be a UUID' }) })
