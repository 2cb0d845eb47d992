import * as z from 'zod'
import { HINT_LENGTH } from '../access-token'
import { MAX_NAME } from '../members/schema'
import { Instant } from '../schema/responses'
import { NAMES, Scope } from './schema'

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
