import * as z from 'zod'
import { BOOK_FORMATS, MAX_INT } from '../contract'

// The value types that several resources share, each with its error message. Rules are patterns where possible, because
// the OpenAPI document shows patterns and no other checks.

/** The error of a schema: `is required` when the value is absent, otherwise the message. */
export const orRequired = (message: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : message

// biome-ignore lint/suspicious/noControlCharactersInRegex: D1 would not store a NUL unchanged
const WITHOUT_NUL = /^[^\x00]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const FILLED = /^\s*[^\s\x00][^\x00]*$/

/** Adds the rules for text that D1 stores unchanged. The pattern must exclude NUL. */
const storable = (text: z.ZodString, pattern: RegExp, error: string) =>
  text
    .regex(pattern, {
      error: ({ input }) => (String(input).includes('\0') ? 'must not contain a NUL character' : error),
    })
    .refine((value) => value.isWellFormed(), { error: 'must not contain an unpaired surrogate' })

const atMost = (max: number) => `must be at most ${max} characters`

/** Text of at most `max` Unicode code points. */
const textUpTo = (max: number, type = 'a string') =>
  z.string({ error: orRequired(`must be ${type}`) }).max(max, { error: atMost(max) })

/** Text that is not blank. */
export const filledText = (max: number) => storable(textUpTo(max), FILLED, 'must not be blank')

/** Text that is not blank, trimmed and in NFC. The limit applies to the result. */
export const trimmedText = (max: number) => {
  const error = atMost(max)
  const trimmed = z
    .string({ error: orRequired('must be a string') })
    .trim()
    // NFC has no character that other forms write with more than four. Normalizing a long text can take minutes.
    .max(4 * max, { error, abort: true })
    .normalize('NFC')
  return storable(trimmed.max(max, { error }), FILLED, 'must not be blank')
}

/** Text that is not empty, but may be blank. */
export const nonEmptyText = (max: number) =>
  storable(textUpTo(max).min(1, { error: 'must not be empty' }), WITHOUT_NUL, '')

/** Accepts null, and an empty string as null: that is how existing clients clear a field. */
const emptyAsNull = <T extends z.ZodType<string>>(schema: T) => schema.nullable().transform((value) => value || null)

const NULLABLE = 'a string or null'
export const nullableText = (max: number) => emptyAsNull(storable(textUpTo(max, NULLABLE), WITHOUT_NUL, ''))

// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const WEB_URL = /^(?:[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\\\x00]+)?$/
const webUrlError = 'must be an http or https URL'
// The pattern is needed too: URL.canParse repairs invalid URLs, such as ones with backslashes or line breaks.
export const NullableUrl = emptyAsNull(
  storable(textUpTo(2048, NULLABLE), WEB_URL, webUrlError).refine((value) => value === '' || URL.canParse(value), {
    error: webUrlError,
  }),
)

// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const SEARCH_TERM = /^\s*[^\s\x00](?:[^\x00]{0,98}[^\s\x00])?\s*$/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const LONGER_TERM = /^\s*[^\s\x00][^\x00]{0,98}[^\s\x00]\s*$/u
const searchTerm = (pattern: RegExp, min: number) => {
  const error = orRequired(`must be ${min} to 100 characters long`)
  return storable(z.string({ error }), pattern, error({ input: '' })).transform((term) => term.trim())
}
/** A search term. Leading and trailing space does not count. */
export const SearchTerm = searchTerm(SEARCH_TERM, 1)
/** A search term of at least two characters. */
export const LongerSearchTerm = searchTerm(LONGER_TERM, 2)

const integerMessage = (min: number, max: number) => `must be an integer between ${min} and ${max}`

export const int = (min: number, max: number) => {
  const error = orRequired(integerMessage(min, max))
  return z.int({ error }).min(min, { error }).max(max, { error })
}
export const Int32 = int(0, MAX_INT)

/** The digits of 0 to MAX_INT. */
const INT32_DIGITS =
  /^(?:\d{1,9}|[01]\d{9}|20\d{8}|21[0-3]\d{7}|214[0-6]\d{6}|2147[0-3]\d{5}|21474[0-7]\d{4}|214748[0-2]\d{3}|2147483[0-5]\d{2}|21474836[0-3]\d|214748364[0-7])$/
const int32Error = orRequired(integerMessage(0, MAX_INT))

/** An integer that may be sent as a string. */
export const QuotableInt32 = z.union([Int32, z.string().regex(INT32_DIGITS, { error: int32Error }).transform(Number)], {
  error: int32Error,
})

type Enumeration<Name extends string> = z.ZodEnum<{ [Key in Name]: Key }>

const choiceError = <Name extends string>({ options }: Enumeration<Name>, other = '') =>
  orRequired(`must be ${other}one of ${options.join(', ')} (or ${options.map((_, code) => code).join(', ')})`)

/** One of the names, or its index as a number or a digit. The output is always the name. */
export const nameOrCode = <Name extends string>(names: Enumeration<Name>) => {
  const { options } = names
  const error = choiceError(names)
  const toName = (code: number | string) => options[Number(code)]
  const last = options.length - 1
  const code = z.int({ error }).min(0, { error }).max(last, { error }).transform(toName)
  const digit = z
    .string()
    .regex(new RegExp(`^[0-${last}]$`), { error })
    .transform(toName)
  // Typed clients see only the names.
  return z.union([names, code, digit], { error }) as unknown as z.ZodType<Name, Name>
}

/** `nameOrCode` for filters, which also accept `ALL`. */
export const nameOrCodeOrAll = <Name extends string>(names: Enumeration<Name>) =>
  z.union([z.literal('ALL'), nameOrCode(names)], { error: choiceError(names, 'ALL or ') })

/** `nameOrCode` that is the default if absent, null or empty. */
export const nameOrCodeOrDefault = <Name extends string>(names: Enumeration<Name>, defaultName: NoInfer<Name>) => {
  const nothing = z.literal('').nullable()
  return z
    .union([nameOrCode(names), nothing.transform(() => defaultName)], { error: choiceError(names) })
    .default(defaultName as never)
}

/** One of the names. The contract's enumerations accept codes, too: `nameOrCode`. */
export const nameOf = <const Names extends readonly string[]>(names: Names) =>
  z.enum(names, { error: orRequired(`must be one of ${names.join(', ')}, or null`) })
export const BookFormat = nameOf(BOOK_FORMATS).meta({ id: 'BookFormat' })

// With leap years, and a time of day.
const DATE = z.regexes.date.source.slice(1, -1)
const TIMESTAMP = new RegExp(`^${DATE}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?$`)
const TIMESTAMP_FORMAT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/

/** A local date-time in a request. A fraction of a second is accepted and dropped. */
export const Timestamp = z
  .string({ error: orRequired('must be a date-time in the format yyyy-MM-ddTHH:mm:ss') })
  .regex(TIMESTAMP, {
    error: ({ input }) =>
      TIMESTAMP_FORMAT.test(String(input))
        ? 'must be a valid calendar date'
        : 'must be in the format yyyy-MM-ddTHH:mm:ss, without a time zone',
  })
  .transform((value) => value.slice(0, 19))

// Parameters arrive as text, but the document shows them as integers.
const asInteger = (minimum: number, maximum: number) => ({ type: 'integer' as const, minimum, maximum })

const digits = (pattern: RegExp, max: number, error: string) =>
  z
    .string({ error: orRequired(error) })
    .regex(pattern, { error })
    .transform(Number)
    .refine((value) => value <= max, { error })

/** An integer in a query or a path. */
export const intParameter = (min: number, max: number) =>
  digits(/^\d{1,10}$/, max, integerMessage(min, max))
    .refine((value) => value >= min, { error: integerMessage(min, max) })
    .meta(asInteger(min, max))

/** An identifier in a query or a path. */
export const IdParameter = digits(
  /^[1-9]\d{0,15}$/,
  Number.MAX_SAFE_INTEGER,
  integerMessage(1, Number.MAX_SAFE_INTEGER),
).meta(asInteger(1, Number.MAX_SAFE_INTEGER))

const INSTANT = new RegExp(
  `^${DATE}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)$`,
)
const instantError = 'must be in the format yyyy-MM-ddTHH:mm:ss, followed by Z or an offset such as +09:00'
/** The last time that `Instant` can express. An offset can lead beyond it. */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59)

const instant = z
  .string({ error: orRequired(instantError) })
  .regex(INSTANT, { error: instantError })
  .transform((value) => Math.floor(Date.parse(value) / 1000) * 1000)

/** A time in the future, in a request. The output is in milliseconds since 1970, without fractions of a second. */
export const FutureInstant = instant.refine((time) => time > Date.now() && time <= LAST_INSTANT, {
  error: 'must be in the future',
})

const FIRST_PAST_INSTANT = Date.UTC(1900, 0, 1)
/** How far the clock of a client may be ahead. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000
/** A time since 1900, and at most MAX_CLOCK_SKEW_MS ahead, in a request. The output is like that of `FutureInstant`. */
export const PastInstant = instant.refine(
  (time) => time >= FIRST_PAST_INSTANT && time <= Date.now() + MAX_CLOCK_SKEW_MS,
  { error: 'must not be before 1900 or in the future' },
)

/** @param time milliseconds since 1970 */
export const toInstant = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`
