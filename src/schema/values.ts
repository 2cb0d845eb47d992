import * as z from 'zod'
import { MAX_INT } from '../contract'

// The value types that several resources share, each with its error message.

/** The error of a schema: `is required` when the value is absent, otherwise the message. */
export const orRequired = (message: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : message

// D1 would not store a NUL or half of a surrogate pair unchanged.
const isStorable = (value: string) => value.isWellFormed() && !value.includes('\0')

/** Text of at most `max` Unicode code points. */
export const text = (max: number) =>
  z
    .string({ error: orRequired('must be a string') })
    .max(max, { error: `must be at most ${max} characters` })
    .refine(isStorable, { error: 'must not contain a NUL character or an unpaired surrogate' })

/** `text` that is not blank. */
export const filledText = (max: number) =>
  text(max).refine((value) => value.trim() !== '', { error: 'must not be blank' })

/** Accepts null, and an empty string as null: that is how existing clients clear a field. */
export const emptyAsNull = <T extends z.ZodType>(schema: T) =>
  z.union([z.literal('').transform(() => null), schema.nullable()], { error: orRequired('must be a string or null') })

// The pattern is needed too: URL.canParse repairs invalid URLs, such as ones with backslashes or line breaks.
const isWebUrl = (value: string) => /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value)
export const WebUrl = text(2048).refine(isWebUrl, { error: 'must be an http or https URL' }).meta({ format: 'uri' })

const integerMessage = (min: number, max: number) => `must be an integer between ${min} and ${max}`

export const int = (min: number, max: number) => {
  const error = orRequired(integerMessage(min, max))
  return z.int({ error }).min(min, { error }).max(max, { error })
}
export const Int32 = int(0, MAX_INT)

/** An integer that may be sent as a string. */
export const QuotableInt32 = z.union(
  [
    z
      .string()
      .regex(/^\d{1,10}$/)
      .max(10)
      .transform(Number)
      .pipe(Int32),
    Int32,
  ],
  { error: orRequired(integerMessage(0, MAX_INT)) },
)

const listChoices = (names: readonly string[]) =>
  `one of ${names.join(', ')} (or ${names.map((_, code) => code).join(', ')})`

/** One of the names, or its index as a number or a string. The output is always the name. */
export const enumeration = <const Names extends readonly [string, ...string[]]>(names: Names) => {
  const codes = names.flatMap((_, code) => [code, String(code)])
  // Typed clients only see the names.
  const name = (z.literal(codes) as unknown as z.ZodType<Names[number], Names[number]>).transform(
    (code) => names[Number(code)] as Names[number],
  )
  return z.union([z.enum(names), name], { error: orRequired(`must be ${listChoices(names)}`) })
}

/** `enumeration` for filters, which also accept `ALL`. */
export const enumerationOrAll = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.union([z.literal('ALL'), enumeration(names)], { error: orRequired(`must be ALL or ${listChoices(names)}`) })

const isCalendarDate = (value: string) => {
  const seconds = value.slice(0, 19)
  const date = new Date(`${seconds}Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(seconds)
}

/** A local date-time in a request. A fraction of a second is accepted and dropped. */
export const Timestamp = z
  .string({ error: orRequired('must be a date-time in the format yyyy-MM-ddTHH:mm:ss') })
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/, {
    error: 'must be in the format yyyy-MM-ddTHH:mm:ss, without a time zone',
  })
  .refine(isCalendarDate, { error: 'must be a valid calendar date' })
  .transform((value) => value.slice(0, 19))
  .describe('yyyy-MM-ddTHH:mm:ss, without a time zone')

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
export const IdParameter = digits(/^[1-9]\d{0,15}$/, Number.MAX_SAFE_INTEGER, 'must be a positive integer').meta(
  asInteger(1, Number.MAX_SAFE_INTEGER),
)

/** An identifier in a response. */
export const Id = z.int().positive()
/** A timestamp in a response. */
export const LocalTime = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
  .length(19)
  .meta({ description: 'Local date-time without a time zone', example: '2026-11-21T09:30:00' })
