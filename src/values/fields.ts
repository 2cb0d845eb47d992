import * as z from 'zod/mini'
import { BOOK_FORMATS, MAX_COVER, MAX_INT } from './contract'
import { lenient, named } from './named'

// The value types that several resources share, each with its error message. Rules are patterns where possible, because
// the OpenAPI document shows patterns and no other checks.

/** The error of a schema: `is required` when the value is absent, otherwise the message. */
export const orRequired =
  (message: string, required = 'is required') =>
  (issue: { input?: unknown }) =>
    issue.input === undefined ? required : message

// biome-ignore lint/suspicious/noControlCharactersInRegex: D1 would not store a NUL unchanged
const WITHOUT_NUL = /^[^\x00]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const FILLED = /^\s*[^\s\x00][^\x00]*$/

/** Adds the rules for text that D1 stores unchanged. The pattern must exclude NUL. */
const storable = (text: z.ZodMiniString<string>, pattern: RegExp, error: string) =>
  text.check(
    z.regex(pattern, {
      error: ({ input }) => (String(input).includes('\0') ? 'must not contain a NUL character' : error),
    }),
    z.refine((value) => value.isWellFormed(), { error: 'must not contain an unpaired surrogate' }),
  )

const atMost = (max: number) => `must be at most ${max} characters`

/** Text of at most `max` Unicode code points. */
const textUpTo = (max: number, type = 'a string') =>
  z.string({ error: orRequired(`must be ${type}`) }).check(z.maxLength(max, { error: atMost(max) }))

/** Text that is not blank. */
export const filledText = (max: number) => storable(textUpTo(max), FILLED, 'must not be blank')

/** Text that is not blank, trimmed and in NFC. The limit applies to the result. */
export const trimmedText = (max: number) => {
  const error = atMost(max)
  const trimmed = z.string({ error: orRequired('must be a string') }).check(
    z.trim(),
    // NFC has no character that other forms write with more than four. Normalizing a long text can take minutes.
    z.maxLength(4 * max, { error, abort: true }),
    z.normalize('NFC'),
  )
  return storable(trimmed.check(z.maxLength(max, { error })), FILLED, 'must not be blank')
}

/** Text that is not empty, but may be blank. */
export const nonEmptyText = (max: number) =>
  storable(textUpTo(max).check(z.minLength(1, { error: 'must not be empty' })), WITHOUT_NUL, '')

/** Accepts null, and an empty string as null: that is how existing clients clear a field. */
const emptyAsNull = <T extends z.ZodMiniType<string, string>>(schema: T) =>
  z.pipe(
    z.nullable(schema),
    z.transform((value) => value || null),
  )

const NULLABLE = 'a string or null'
export const nullableText = (max: number) => emptyAsNull(storable(textUpTo(max, NULLABLE), WITHOUT_NUL, ''))

// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const WEB_URL = /^(?:[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\\\x00]+)?$/
const webUrlError = 'must be an http or https URL'
// The pattern is needed too: URL.canParse repairs invalid URLs, such as ones with backslashes or line breaks.
export const NullableUrl = z.lazy(() =>
  emptyAsNull(
    storable(textUpTo(MAX_COVER, NULLABLE), WEB_URL, webUrlError).check(
      z.refine((value) => value === '' || URL.canParse(value), { error: webUrlError }),
    ),
  ),
)

// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const SEARCH_TERM = /^\s*[^\s\x00](?:[^\x00]{0,98}[^\s\x00])?\s*$/u
// One character may be a word in Chinese, Japanese and Korean.
const ENOUGH = /..|[々-〇ぁ-ヿ㐀-鿿가-힣豈-龎𠀀-𲎯]/su
const toTrimmed = z.transform((term: string) => term.trim())
const searchTerm = (pattern: RegExp, message: string) => {
  const error = orRequired(message)
  return z.pipe(storable(z.string({ error }), pattern, error({ input: '' })), toTrimmed)
}
/** A search term. Leading and trailing space does not count. */
export const SearchTerm = z.lazy(() => searchTerm(SEARCH_TERM, 'must be 1 to 100 characters long'))
/** A search term of at least two characters, or one of a script in which that is a word. */
export const LongerSearchTerm = z.lazy(() => {
  const error = 'must be 2 to 100 characters long, or one Chinese, Japanese or Korean character'
  return searchTerm(SEARCH_TERM, error).check(z.refine((term) => ENOUGH.test(term), { error }))
})

const integerMessage = (min: number, max: number) => `must be an integer between ${min} and ${max}`

/** The error of a number: many clients send it as text. */
const numberError = (message: string) => (issue: { input?: unknown }) =>
  orRequired(typeof issue.input === 'string' ? `${message} (not a string)` : message)(issue)

export const int = (min: number, max: number) => {
  const error = numberError(integerMessage(min, max))
  return z.int({ error }).check(z.minimum(min, { error }), z.maximum(max, { error }))
}
export const Int32 = int(0, MAX_INT)

/** A number that may have a fraction. */
export const numberBetween = (min: number, max: number, message: string) => {
  const error = numberError(message)
  return z.number({ error }).check(z.minimum(min, { error }), z.maximum(max, { error }))
}

/** The digits of 0 to MAX_INT. */
const INT32_DIGITS =
  /^(?:\d{1,9}|[01]\d{9}|20\d{8}|21[0-3]\d{7}|214[0-6]\d{6}|2147[0-3]\d{5}|21474[0-7]\d{4}|214748[0-2]\d{3}|2147483[0-5]\d{2}|21474836[0-3]\d|214748364[0-7])$/
const int32Error = orRequired(integerMessage(0, MAX_INT))

/** An integer that may be sent as a string. */
export const quotableInt32 = () =>
  lenient(
    [Int32, z.pipe(z.string().check(z.regex(INT32_DIGITS, { error: int32Error })), z.transform(Number))],
    int32Error,
  )

type Enumeration<Name extends string> = z.ZodMiniEnum<{ [Key in Name]: Key }>

const choiceError = <Name extends string>({ options }: Enumeration<Name>, other = '') =>
  orRequired(`must be ${other}one of ${options.join(', ')} (or ${options.map((_, code) => code).join(', ')})`)

/** One of the names, or its index as a number or a digit. The output is always the name. */
export const nameOrCode = <Name extends string>(names: Enumeration<Name>) => {
  const { options } = names
  const error = choiceError(names)
  const last = options.length - 1
  const byCode = z.transform((code: number) => options[code])
  const byDigit = z.transform((digit: string) => options[Number(digit)])
  const code = z.pipe(z.int({ error }).check(z.minimum(0, { error }), z.maximum(last, { error })), byCode)
  const digit = z.pipe(z.string().check(z.regex(new RegExp(`^[0-${last}]$`), { error })), byDigit)
  return lenient([names, code, digit], error)
}

/** `nameOrCode` for filters, which also accept `ALL`. */
export const nameOrCodeOrAll = <Name extends string>(names: Enumeration<Name>) =>
  z.union([z.literal('ALL'), nameOrCode(names)], { error: choiceError(names, 'ALL or ') })

/** `nameOrCode` that is the default if absent, null or empty. */
export const nameOrCodeOrDefault = <Name extends string>(names: Enumeration<Name>, defaultName: NoInfer<Name>) => {
  const toDefault = z.transform((_: '' | null) => defaultName)
  const nothing = z.pipe(z.nullable(z.literal('')), toDefault)
  return z._default(lenient([nameOrCode(names), nothing], choiceError(names)), defaultName as never)
}

/** One of the names. The contract's enumerations accept codes, too: `nameOrCode`. */
export const nameOf = <const Names extends readonly string[]>(names: Names, other = '') =>
  z.enum(names, { error: orRequired(`must be one of ${names.join(', ')}${other}`) })
export const OR_NULL = ', or null'
export const BookFormat = named('BookFormat', nameOf(BOOK_FORMATS, OR_NULL))

const LEAP_YEAR = String.raw`(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)`
const DAY = String.raw`(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8]))`
/** The source of a pattern for dates: that of `z.iso.date`, which would bundle all formats of dates and times. */
export const FULL_DATE = `(?:${LEAP_YEAR}-02-29|\\d{4}-${DAY})`
const TIMESTAMP = new RegExp(`^${FULL_DATE}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?$`)
const TIMESTAMP_FORMAT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/

/** A local date-time in a request. A fraction of a second is accepted and dropped. */
export const Timestamp = z.lazy(() =>
  z.pipe(
    z.string({ error: orRequired('must be a date-time in the format yyyy-MM-ddTHH:mm:ss') }).check(
      z.regex(TIMESTAMP, {
        error: ({ input }) =>
          TIMESTAMP_FORMAT.test(String(input))
            ? 'must be a valid calendar date'
            : 'must be in the format yyyy-MM-ddTHH:mm:ss, without a time zone',
      }),
    ),
    z.transform((value) => value.slice(0, 19)),
  ),
)

// Parameters arrive as text, but the document shows them as integers.
const asInteger = (minimum: number, maximum: number) => ({ type: 'integer' as const, minimum, maximum })

/** Errors of words that clients send instead, and of an absent value. */
type Hints = { words?: Map<string, string>; required?: string }

const digits = (pattern: RegExp, max: number, error: string, { words, required }: Hints = {}) =>
  z
    .pipe(
      z
        .string({ error: orRequired(error, required) })
        .check(z.regex(pattern, { error: ({ input }) => words?.get(String(input)) ?? error })),
      z.transform(Number),
    )
    .check(z.refine((value) => value <= max, { error }))

/** An integer in a query or a path. */
export const intParameter = (min: number, max: number) =>
  digits(/^\d{1,10}$/, max, integerMessage(min, max))
    .check(z.refine((value) => value >= min, { error: integerMessage(min, max) }))
    .register(z.globalRegistry, asInteger(min, max))

/** An identifier in a query or a path. */
export const idParameter = (hints?: Hints) =>
  digits(/^[1-9]\d{0,15}$/, Number.MAX_SAFE_INTEGER, integerMessage(1, Number.MAX_SAFE_INTEGER), hints).register(
    z.globalRegistry,
    asInteger(1, Number.MAX_SAFE_INTEGER),
  )
export const IdParameter = z.lazy(() => idParameter())

const INSTANT = new RegExp(
  `^${FULL_DATE}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)$`,
)
const instantError = 'must be in the format yyyy-MM-ddTHH:mm:ss, followed by Z or an offset such as +09:00'
/** The last time that `Instant` can express. An offset can lead beyond it. */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59)

/** @param unit of the output, in milliseconds */
const instant = (unit: number) =>
  z.pipe(
    z.string({ error: orRequired(instantError) }).check(z.regex(INSTANT, { error: instantError })),
    z.transform((value) => Math.floor(Date.parse(value) / unit) * unit),
  )

/** A time in the future, in a request. The output is in milliseconds since 1970, without fractions of a second. */
export const FutureInstant = z.lazy(() =>
  instant(1000).check(
    z.refine((time) => time > Date.now() && time <= LAST_INSTANT, { error: 'must be in the future' }),
  ),
)

export const FIRST_PAST_INSTANT = Date.UTC(1900, 0, 1)
/** How far the clock of a client may be ahead. */
export const MAX_CLOCK_SKEW_MS = 5 * 60_000
/** A time since 1900, and at most MAX_CLOCK_SKEW_MS ahead, in a request. The output is in milliseconds since 1970. */
export const PastInstant = z.lazy(() =>
  instant(1).check(
    z.refine((time) => time >= FIRST_PAST_INSTANT && time <= Date.now() + MAX_CLOCK_SKEW_MS, {
      error: 'must not be before 1900 or in the future',
    }),
  ),
)

/** @param time milliseconds since 1970 */
export const toInstant = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`
