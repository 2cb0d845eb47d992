import * as z from 'zod/mini'
import type { Caller } from './db/caller'
import type { Db } from './db/client'
import type { RequestKey } from './db/idempotency'
import { ApiError } from './errors'
import { DEFAULT_LOG_SAMPLE_RATE, log } from './runtime/log'
import { type Databases, databasesOf, type Slots } from './slots/slots'
import type { ReaderBinding } from './transfer/entries/reader-protocol'
import type { LinkShape } from './values/link'
import { DEFAULT_QUOTAS, type Quota, type Quotas } from './values/quotas'
import { isTimeZone } from './values/time'

/** The Worker's environment: the bindings of wrangler.toml, variables and secrets. */
export type Bindings = {
  ASSETS: Fetcher
  IMAGES: R2Bucket
  CATALOGUE: KVNamespace
  EMAIL: SendEmail
  READER: ReaderBinding
  VERSION: WorkerVersionMetadata
  NETWORK_LIMIT: RateLimit
  MEMBER_LIMIT: RateLimit
  SEARCH_LIMIT: RateLimit
  DEVICE_LIMIT: RateLimit
  /** Absent in benchmarks, which exceed any sensible limit, like CREDENTIAL_LIMIT. */
  WRITE_LIMIT?: RateLimit
  CREDENTIAL_LIMIT?: RateLimit
  CORS_ORIGINS?: string
  NEW_MEMBERS?: string
} & Databases &
  Partial<Record<keyof Config, string>>

const secret = (name: string) =>
  z.string({ error: `${name} is missing: set it with \`wrangler secret put ${name}\`` }).check(
    z.refine((value) => new TextEncoder().encode(value).length >= 32, {
      error: `${name} is too short: use at least 32 random bytes, for example from \`openssl rand -base64 48\``,
    }),
  )

const webUrl = (name: string) =>
  z.optional(
    z.pipe(
      z.url({ protocol: /^https?$/, error: `${name} is not an http or https URL` }).check(
        z.refine((url) => !/[?#]/.test(url), {
          error: `${name} has a query or fragment: set only the part before it`,
        }),
      ),
      z.transform((url) => url.replace(/\/+$/, '')),
    ),
  )

// Printable ASCII without spaces, so that it cannot add a line to security.txt.
const isContact = (uri: string) => /^(?:mailto:[!-?A-~]+@[!-?A-~]+|https:\/\/[!-~]+)$/.test(uri) && URL.canParse(uri)

// Not `z.coerce`, which would bundle the coercion of all types.
const numeric = (schema: z.ZodMiniNumber<number>, byDefault: number) =>
  z._default(z.pipe(z.transform(Number), schema), byDefault)

const integer = (name: string, [min, max]: [min: number, max: number], byDefault: number) => {
  const error = `${name} is not an integer from ${min} to ${max}`
  return numeric(z.int({ error }).check(z.minimum(min, { error }), z.maximum(max, { error })), byDefault)
}
const rate = (name: string, byDefault: number) => {
  const error = `${name} is not a number from 0 to 1`
  return numeric(z.number({ error }).check(z.minimum(0, { error }), z.maximum(1, { error })), byDefault)
}
const oneOf = <const Values extends readonly [string, ...string[]]>(name: string, values: Values) =>
  z.enum(values, { error: `${name} is not one of ${values.join(', ')}` })

// D1 rounds integers above 2^53.
const quota = (name: Quota) => integer(name, [0, Number.MAX_SAFE_INTEGER], DEFAULT_QUOTAS[name])

const variables = (hasDirectory: boolean) =>
  z
    .object({
      JWT_SECRET: secret('JWT_SECRET'),
      JWT_SECRET_PREVIOUS: z.optional(secret('JWT_SECRET_PREVIOUS')),
      TOKEN_TTL_SECONDS: integer('TOKEN_TTL_SECONDS', [60, 31_536_000], 2_592_000),
      /** How long after a login its token can be renewed. */
      SESSION_TTL_SECONDS: integer('SESSION_TTL_SECONDS', [60, 31_536_000], 31_536_000),
      TIME_ZONE: z._default(
        z.string().check(z.refine(isTimeZone, { error: 'TIME_ZONE is not an IANA time zone name' })),
        'UTC',
      ),
      ABANDON_AFTER_DAYS: integer('ABANDON_AFTER_DAYS', [0, 36_500], 90),
      MAX_BOOKS: quota('MAX_BOOKS'),
      MAX_MEMOS_PER_BOOK: quota('MAX_MEMOS_PER_BOOK'),
      MAX_BOOK_TEXT_BYTES: quota('MAX_BOOK_TEXT_BYTES'),
      MAX_MEMBER_TEXT_BYTES: quota('MAX_MEMBER_TEXT_BYTES'),
      MAX_MEMBER_IMAGE_BYTES: quota('MAX_MEMBER_IMAGE_BYTES'),
      MAX_IDEMPOTENCY_KEYS: quota('MAX_IDEMPOTENCY_KEYS'),
      /** `invited`: only with the code of an invitation, which `npm run members -- invite` prints. */
      SIGN_UP: z._default(oneOf('SIGN_UP', ['open', 'invited']), 'open'),
      EMAIL_VERIFICATION: z._default(oneOf('EMAIL_VERIFICATION', ['required', 'off']), 'required'),
      REFUSE_COMMON_PASSWORDS: z._default(oneOf('REFUSE_COMMON_PASSWORDS', ['on', 'off']), 'off'),
      REQUIRE_CURRENT_PASSWORD: z._default(oneOf('REQUIRE_CURRENT_PASSWORD', ['on', 'off']), 'off'),
      PUBLIC_URL: webUrl('PUBLIC_URL'),
      IMAGE_BASE_URL: webUrl('IMAGE_BASE_URL'),
      SECURITY_CONTACT: z.optional(
        z.string().check(z.refine(isContact, { error: 'SECURITY_CONTACT is not a mailto or https URI' })),
      ),
      CATALOGUE_PROVIDER: z._default(oneOf('CATALOGUE_PROVIDER', ['yes24', 'open-library', 'sample']), 'open-library'),
      CATALOGUE_CONTACT: z.optional(z.string()),
      YES24_API_KEY: z.optional(z.string()),
      MAILS_PER_DAY: integer('MAILS_PER_DAY', [0, 10_000_000], 10_000),
      LOG_SAMPLE_RATE: rate('LOG_SAMPLE_RATE', DEFAULT_LOG_SAMPLE_RATE),
      /** While it is on, nothing is changed but what reading needs, such as limits. */
      MAINTENANCE: z._default(oneOf('MAINTENANCE', ['on', 'off']), 'off'),
      /** The key of the hashes of e-mail addresses in the directory. Required with several databases. */
      ADDRESS_KEY: hasDirectory ? secret('ADDRESS_KEY') : z.optional(z.string()),
      MAIL_FROM: z.optional(z.email({ error: 'MAIL_FROM is not an e-mail address' })),
    })
    .check(
      z.refine((config) => config.SIGN_UP === 'open' || config.EMAIL_VERIFICATION === 'required', {
        path: ['SIGN_UP'],
        error: 'SIGN_UP=invited needs EMAIL_VERIFICATION=required: without it, any code is accepted',
      }),
      z.refine((config) => config.CATALOGUE_PROVIDER !== 'yes24' || config.YES24_API_KEY, {
        path: ['YES24_API_KEY'],
        error: 'YES24_API_KEY is missing: set it with `wrangler secret put YES24_API_KEY`, or choose another provider',
      }),
    )
/** The names of all variables and secrets. */
export const settingNames = () => ['CORS_ORIGINS', 'NEW_MEMBERS', ...Object.keys(variables(true).shape)]
export type Config = z.infer<ReturnType<typeof variables>>

/**
 * What handlers find in `c.env` and `c.var`. `caller` and what follows it are set only behind `authenticated` or
 * `linked`, where `db` is the caller's database; elsewhere it is that of slot 0.
 */
export type App = {
  Bindings: Bindings
  Variables: {
    config: Config
    slots: Slots
    db: Db
    caller: Caller
    /** The limits that this request counts towards. */
    limits: readonly CallerLimit[]
    /** Whether expensive work has begun before this request's first call, on an earlier confirmation. */
    isUnverified?: boolean
    /** The schema of the query, once it was validated. */
    query?: z.core.$ZodType
    /** Fields of the body that have no effect, once it was read. */
    ignoredFields?: string[]
    /** How long the request has waited for its body, in milliseconds. */
    clientMs?: number
    /** Set behind `linked`. */
    link: { shape: LinkShape; secret: string; suffix: string }
    /** The name of a header that `readHeader` has read. */
    readHeader?: string
    /** Set behind `keyed`, if the request has an `Idempotency-Key`. */
    key?: RequestKey
  }
}
/** What handlers find in `c.var`, for functions that need several of them. */
export type Variables = App['Variables']

/** What stores use of a request that writes for its caller. */
export type CallerRequest = Pick<Variables, 'db' | 'caller' | 'key'> & {
  config: Quotas & Pick<Config, 'TIME_ZONE'>
}

/** A limit on the caller's requests of one kind. */
export type CallerLimit = {
  binding: 'MEMBER_LIMIT' | 'SEARCH_LIMIT' | 'DEVICE_LIMIT' | 'WRITE_LIMIT'
  kind: string
  /** Counts all credentials of a member together, links included. */
  perMember?: true
}

// An empty value counts as missing: forms and .env files cannot leave a value out.
const withoutEmpty = (env: Bindings) =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => typeof value !== 'string' || value.trim() !== ''))

const validated = new WeakMap<Bindings, Config>()

/**
 * The configuration, validated once per isolate.
 * @throws INTERNAL when a setting is missing or invalid: every request is refused, and the log says what to set
 */
export const configure = (env: Bindings): Config => {
  const known = validated.get(env)
  if (known) return known
  const parsed = variables(databasesOf(env).size > 1).safeParse(withoutEmpty(env))
  const missing = (['NETWORK_LIMIT', 'MEMBER_LIMIT', 'SEARCH_LIMIT', 'DEVICE_LIMIT'] as const).filter(
    (name) => !env[name],
  )
  for (const name of missing) log('error', `configuration: ${name} is missing: bind it as wrangler.toml does`)
  for (const { path, message } of parsed.error?.issues ?? [])
    log('error', `configuration: ${path.join('.')}: ${message}`)
  if (!parsed.success || missing.length > 0) throw new ApiError('INTERNAL')
  validated.set(env, parsed.data)
  return parsed.data
}
