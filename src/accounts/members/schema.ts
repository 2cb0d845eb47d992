import * as z from 'zod/mini'
import { filledText, orRequired } from '../../values/fields'
import { named, namedLazy } from '../../values/named'
import { isTimeZone } from '../../values/time'

// A dot-atom (RFC 5322) at a domain name. ASCII only, because lower() in SQLite folds nothing else; no `i` flag,
// because JSON Schema patterns have no flags.
const ADDRESS =
  /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z\d](?:[A-Za-z\d-]{0,61}[A-Za-z\d])?\.)+[A-Za-z][A-Za-z\d-]{0,61}[A-Za-z\d]$/
export const Email = z.lazy(() =>
  z
    .email({ pattern: ADDRESS, error: orRequired('must be a valid e-mail address') })
    .check(z.maxLength(254, { error: 'must be at most 254 characters' })),
)
export const MAX_NAME = 100
const Name = z.lazy(() => filledText(MAX_NAME))
const MAX_PASSWORD = 128
/** Never a valid password. Replaces ones that are too long: they would take memory while they wait to be hashed. */
const NO_PASSWORD = ' '
export const Password = z.lazy(() =>
  z
    .string({ error: orRequired('must be a string') })
    .check(
      z.regex(/^[!-~]*$/, { error: 'must contain only ASCII letters, digits and special characters, without spaces' }),
      z.minLength(6, { error: 'must be at least 6 characters' }),
      z.maxLength(MAX_PASSWORD, { error: 'must be at most 128 characters' }),
    ),
)

/** A password to compare with the stored one. */
export const KnownPassword = z.lazy(() =>
  z.pipe(
    z.string({ error: orRequired('must be a string') }).check(z.minLength(1, { error: 'is required' })),
    z.transform((password) => (password.length > MAX_PASSWORD ? NO_PASSWORD : password)),
  ),
)
/** A code that was mailed. */
export const AuthenticationCode = z.lazy(() =>
  z.string({ error: orRequired('must be a string') }).check(z.regex(/\S/, { error: 'must not be blank' })),
)

export const NewMember = namedLazy('NewMember', () =>
  z.object({ email: Email, name: Name, password: Password, authenticationCode: AuthenticationCode }),
)
export type NewMember = z.infer<typeof NewMember>

export const CodeRequest = namedLazy('CodeRequest', () => z.object({ joinAuthCodeEmail: Email }))

export const Credentials = namedLazy('Credentials', () => z.object({ email: Email, password: KnownPassword }))
export type Credentials = z.infer<typeof Credentials>

const timeZoneError = 'must be the name of an IANA time zone, such as Asia/Seoul, or null'
const MAX_TIME_ZONE = 64
export const TimeZone = named(
  'TimeZone',
  z
    .string({ error: timeZoneError })
    .check(z.maxLength(MAX_TIME_ZONE, { error: timeZoneError }), z.refine(isTimeZone, { error: timeZoneError })),
)

export const ProfilePatch = namedLazy('ProfilePatch', () =>
  z
    .object({
      name: z.optional(Name),
      password: z.optional(Password),
      currentPassword: z.optional(KnownPassword),
      deleteAccessTokens: z.optional(z.boolean({ error: 'must be true or false' })),
      timeZone: z.nullish(TimeZone),
    })
    .check(
      z.refine(({ password, deleteAccessTokens }) => !deleteAccessTokens || password !== undefined, {
        path: ['deleteAccessTokens'],
        error: 'must not be true without password',
      }),
    ),
)
export type ProfilePatch = z.infer<typeof ProfilePatch>
