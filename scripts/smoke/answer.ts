import { AssertionError } from 'node:assert/strict'

export type Answer = {
  method: string
  path: string
  /** The request in short, for a message. */
  request: string
  status: number
  headers: Headers
  /** The body as it came. */
  text: string
  /** The body as JSON where it is, else as it came; null when there is none. */
  body: unknown
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Whether a value is as expected, no key more and none less; a pattern or a function may stand for a value. */
const matches = (expected: unknown, actual: unknown): boolean => {
  if (typeof expected === 'function') return expected(actual) === true
  if (expected instanceof RegExp) return typeof actual === 'string' && expected.test(actual)
  if (!isObject(expected) || !isObject(actual)) return Object.is(expected, actual)
  if (Array.isArray(expected) !== Array.isArray(actual)) return false
  const keys = Object.keys(expected)
  return (
    keys.length === Object.keys(actual).length &&
    keys.every((key) => Object.hasOwn(actual, key) && matches(expected[key], actual[key]))
  )
}

/** Asserts that the answer has this status and, where one is given, this body: see `matches`. */
export const answers = (answer: Answer, status: number, body?: unknown) => {
  if (answer.status === status && (body === undefined || matches(body, answer.body))) return
  throw new AssertionError({
    message: answer.request,
    expected: { status, body },
    actual: { status: answer.status, body: answer.body },
  })
}

// What may stand for a value in an expected body.
const anything = () => true
export const id = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0
export const words = (value: unknown) => typeof value === 'string' && value.trim() !== ''
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/
const WIDEST_ZONE_MS = 14.1 * 3_600_000
/** A timestamp of just now, whatever zone the service's clock shows. */
export const now = (value: unknown) =>
  matches(TIMESTAMP, value) && Math.abs(Date.parse(`${value}Z`) - Date.now()) < WIDEST_ZONE_MS
/** An object that has these fields, whatever else is in it. */
export const having = (expected: Record<string, unknown>) =>
  Object.assign(
    (actual: unknown) => isObject(actual) && Object.keys(expected).every((key) => matches(expected[key], actual[key])),
    { toJSON: () => ({ ...expected, '…': '…' }) },
  )

/** The body of an error that is about neither fields nor parameters. */
export const error = (status: number, message: unknown = words) => ({
  status,
  message,
  fieldErrors: null,
  violationErrors: null,
})

type Broken = [name: string, rejectedValue: unknown]
const rules = { status: 0, message: null, fieldErrors: null, violationErrors: null }

/** The body of an error about fields of the body, one entry for each. */
export const fieldErrors = (...broken: Broken[]) => ({
  ...rules,
  fieldErrors: broken.map(([field, rejectedValue]) => ({ field, rejectedValue, reason: words })),
})

/** The body of an error about parameters of the path or the query, one entry for each. */
export const violationErrors = (...broken: Broken[]) => ({
  ...rules,
  violationErrors: broken.map(([propertyPath, rejectedValue]) => ({ propertyPath, rejectedValue, reason: words })),
})

const entriesOf = (name: string) => (value: unknown) =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((entry) => matches({ [name]: words, rejectedValue: anything, reason: words }, entry))

/** Whether it has the one shape of every error. */
export const isError = ({ status, body }: Answer) =>
  matches(error(status), body) ||
  (status === 400 && matches({ ...rules, fieldErrors: entriesOf('field') }, body)) ||
  (status === 400 && matches({ ...rules, violationErrors: entriesOf('propertyPath') }, body))
