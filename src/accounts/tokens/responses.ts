import * as z from 'zod/mini'
import { HINT_LENGTH } from '../../auth/access-token'
import { Instant } from '../../values/responses'
import { MAX_NAME } from '../members/schema'
import { NAMES, Scope } from './schema'

const fields = {
  tokenId: z.uuid(),
  name: z.string().check(z.maxLength(MAX_NAME)),
  scopes: z.array(Scope).check(z.maxLength(NAMES.length)),
  createdAt: Instant,
  expiresAt: z.nullable(Instant),
}

/** The only response with the token itself. */
export const CreatedToken = z
  .object({ ...fields, token: z.string().check(z.regex(/^rl_[\dA-Za-z]{36}$/)) })
  .register(z.globalRegistry, { id: 'CreatedToken' })
export type CreatedToken = z.infer<typeof CreatedToken>

export const AccessToken = z
  .object({ ...fields, hint: z.string().check(z.maxLength(HINT_LENGTH)), lastUsedAt: z.nullable(z.iso.date()) })
  .register(z.globalRegistry, { id: 'AccessToken' })
export type AccessToken = z.infer<typeof AccessToken>
