import * as z from 'zod/mini'
import { ALL_SCOPES, DEVICE_SCOPES, MAX_LABEL } from '../../values/contract'
import { FutureInstant, filledText, orRequired } from '../../values/fields'
import { namedLazy } from '../../values/named'

/** The most access tokens of a member. Expired ones do not count. */
export const MAX_TOKENS = 50

export const NAMES = Object.keys(ALL_SCOPES) as (keyof typeof ALL_SCOPES)[]
export const Scope = namedLazy('Scope', () => z.enum(NAMES, { error: `must be one of ${NAMES.join(', ')}` }))

const Scopes = z.lazy(() =>
  z.array(Scope, { error: orRequired('must be an array of scopes') }).check(
    z.minLength(1, { error: 'must have at least one scope' }),
    z.maxLength(NAMES.length, { error: 'must not repeat a scope' }),
    z.refine((scopes) => new Set(scopes).size === scopes.length, { error: 'must not repeat a scope' }),
  ),
)

/** Whether a scope is one of those of devices. */
export const isIntake = (scope: string) => scope in DEVICE_SCOPES

export const NewToken = namedLazy('NewToken', () =>
  z
    .object({
      name: filledText(MAX_LABEL),
      scopes: Scopes,
      expiresAt: z.nullish(FutureInstant),
      startsBooks: z._default(z.boolean({ error: 'must be true or false' }), false),
    })
    .check(
      z.refine(({ scopes }) => scopes.every(isIntake) || !scopes.some(isIntake), {
        path: ['scopes'],
        error: 'must not mix scopes of devices (intake:…) with others: create a separate token for the device',
      }),
      z.refine(({ scopes, startsBooks }) => !startsBooks || scopes.every(isIntake), {
        path: ['startsBooks'],
        error: 'must not be true for a token that is not for a device',
      }),
    ),
)
export type NewToken = z.infer<typeof NewToken>

export const TokenPath = z.lazy(() => z.object({ 'token-id': z.uuid({ error: 'must be a UUID' }) }))
