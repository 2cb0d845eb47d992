import * as z from 'zod'
import { MAX_INT } from '../db/schema'

// The values that fields of more than one resource are made of. Each says in plain English what it wants.

/** Says `is required` of what is absent, and the given rule of everything else. */
export const rule = (text: string) => (issue: { input?: unknown }) => (issue.input === undefined ? 'is required' : text)

// D1 would store neither a NUL nor half of a surrogate pair as it was sent.
const isStorable = (value: string) => value.isWellFormed() && !value.includes('\0')

/** Any text of at most `max` characters that the database keeps exactly. */
export const text = (max: number) =>
  z
    .string({ error: rule('must be a string') })
    .max(max, { error: `must be at most ${max} characters` })
    .refine(isStorable, { error: 'must not contain a NUL character or an unpaired surrogate' })

/** `text` with something in it besides white space. */
export const filledText = (max: number) =>
  text(max).refine((value) => value.trim() !== '', { error: 'must not be blank' })

/** An empty string counts as null: so the clients say that they have nothing. */
export const emptyAsNull = <T extends z.ZodType>(schema: T) =>
  z.union([z.literal('').transform(() => null), schema.nullable()])

// By its letters too: the parser mends what is no address as it stands.
const isWebAddress = (value: string) => /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value)
export const WebAddress = text(2048)
  .refine(isWebAddress, { error: 'must be an http or https URL' })
  .meta({ format: 'uri' })

export const int = (min: number, max: number) => {
  const error = rule(`must be a whole number from ${min} to ${max}`)
  return z.int({ error }).min(min, { error }).max(max, { error })
}
export const Int32 = int(0, MAX_INT)

/** A whole number that may come as a quoted one. */
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
  { error: rule(`must be a whole number from 0 to ${MAX_INT}`) },
)

const choices = (names: readonly string[]) =>
  `one of ${names.join(', ')}, or ${names.map((_, code) => code).join(', ')}`

/** One of the names, or its index in the list, as a number or as a string; always the name afterwards. */
export const enumeration = <const Names extends readonly [string, ...string[]]>(names: Names) => {
  const codes = names.flatMap((_, code) => [code, String(code)])
  // By its type it takes names only: typed clients need no codes.
  const name = (z.literal(codes) as unknown as z.ZodType<Names[number], Names[number]>).transform(
    (code) => names[Number(code)] as Names[number],
  )
  return z.union([z.enum(names), name], { error: rule(`must be ${choices(names)}`) })
}

/** As `enumeration`, or `ALL`: for what a query filters by. */
export const enumerationOrAll = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.union([z.literal('ALL'), enumeration(names)], { error: rule(`must be ALL, or ${choices(names)}`) })

const isCalendarDate = (value: string) => {
  const seconds = value.slice(0, 19)
  const date = new Date(`${seconds}Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(seconds)
}

/** A local date-time without a zone; a fraction of a second is taken and dropped. */
export const Timestamp = z
  .string({ error: rule('must be a date and time in the form yyyy-MM-ddTHH:mm:ss') })
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/, {
    error: 'must have the form yyyy-MM-ddTHH:mm:ss, without a zone',
  })
  .refine(isCalendarDate, { error: 'must be a date that the calendar has' })
  .transform((value) => value.slice(0, 19))
  .describe('yyyy-MM-ddTHH:mm:ss, without a zone')

// Text as all of an address is; clients know it as a number.
const asInteger = (minimum: number, maximum: number) => ({ type: 'integer' as const, minimum, maximum })

const digits = (pattern: RegExp, max: number, error: string) =>
  z
    .string({ error: rule(error) })
    .regex(pattern, { error })
    .transform(Number)
    .refine((value) => value <= max, { error })

/** A whole number in a query or a path. */
export const intParameter = (min: number, max: number) =>
  digits(/^\d{1,10}$/, max, `must be a whole number from ${min} to ${max}`)
    .refine((value) => value >= min, { error: `must be a whole number from ${min} to ${max}` })
    .meta(asInteger(min, max))

/** An identifier in a query or a path. */
export const IdParameter = digits(/^[1-9]\d{0,15}$/, Number.MAX_SAFE_INTEGER, 'must be a positive whole number').meta(
  asInteger(1, Number.MAX_SAFE_INTEGER),
)

/** An identifier in an answer. */
export const Id = z.int().positive()
/** A timestamp in an answer. */
export const LocalTime = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
  .length(19)
  .meta({ description: 'Local date and time without a zone', example: '2026-11-21T09:30:00' })
