import * as z from 'zod/mini'
import { MAX_LABEL, SCOPES } from '../../values/contract'
import { FutureInstant, filledText, orRequired } from '../../values/fields'
import { namedLazy } from '../../values/named'

/** The most access tokens of a member. Expired ones do not count. */
export const MAX_TOKENS = 50

export const NAMES = Object.keys(SCOPES) as (keyof typeof SCOPES)[]
export const Scope = namedLazy('Scope', () => z.enum(NAMES, { error: `must be one of ${NAMES.join(', ')}` }))

const Scopes = z.lazy(() =>
  z.array(Scope, { error: orRequired('must be an array of scopes') }).check(
    z.minLength(1, { error: 'must have at least one scope' }),
    z.maxLength(NAMES.length, { error: 'must not repeat a scope' }),
    z.refine((scopes) => new Set(scopes).size === scopes.length, { error: 'must not repeat a scope' }),
  ),
)

export const NewToken = namedLazy('NewToken', () =>
  z.object({ name: filledText(MAX_LABEL), scopes: Scopes, expiresAt: z.nullish(FutureInstant) }),
)
export type NewToken = z.infer<typeof NewToken>

export const TokenPath = z.lazy(() => z.object({ 'token-id': z.uuid({ error: 'must be a UUID' }) }))
