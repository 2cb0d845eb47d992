// Fills the placeholders of the document's introduction, introduction.md.

import * as attempts from '../db/limits/attempts'
import { ERRORS, toErrorBody } from '../errors'
import { MAX_FILES_PER_DAY, MAX_PER_DAY } from '../transfer/imports/schema'
import { DEEP_OFFSET } from '../values/paging'

const UNITS = { day: 86_400_000, hour: 3_600_000, minute: 60_000 }

const toWindow = (windowMs: number) => {
  const [unit, ms] = Object.entries(UNITS).find(([, length]) => windowMs % length === 0) ?? ['second', 1000]
  return windowMs === ms ? `a ${unit}`.replace('a hour', 'an hour') : `in ${windowMs / ms} ${unit}s`
}
const describeLimits = (limits: attempts.Limit[]) =>
  limits.map(({ max, windowMs }) => `${max} ${toWindow(windowMs)}`).join(', ')

/** Limits by name, such as `EXPORTS`, or by name and what they apply to, such as `LOGINS.network`. */
const LIMITS = Object.entries(attempts)
  .filter(([name]) => /^[A-Z_]+$/.test(name))
  .flatMap(([name, value]) =>
    Array.isArray(value)
      ? [[name, describeLimits(value)]]
      : Object.entries(value as Record<string, attempts.Limit[]>).map(([of, limits]) => [
          `${name}.${of}`,
          describeLimits(limits),
        ]),
  )

/** The cells with the status and the message of each error. */
const ERROR_CELLS = Object.entries(ERRORS).map(([code, [status, message]]) => [code, `${status} | ${message ?? ''}`])

const EXAMPLE_ERROR = toErrorBody('INVALID_FIELDS', {
  fieldErrors: [{ field: 'name', rejectedValue: ' ', reason: 'must not be blank' }],
})

/**
 * @param template the text of introduction.md
 * @param commands the first steps of a client, as shell commands
 * @throws Error if the text has an unknown placeholder
 */
export const introduce = (template: string, commands: string[]) => {
  const values: Record<string, string> = {
    ...Object.fromEntries([...ERROR_CELLS, ...LIMITS]),
    'first steps': commands.join('\n\n'),
    'example error': JSON.stringify(EXAMPLE_ERROR, null, 2),
    MAX_PER_DAY: String(MAX_PER_DAY),
    MAX_FILES_PER_DAY: String(MAX_FILES_PER_DAY),
    DEEP_OFFSET: DEEP_OFFSET.toLocaleString('en'),
  }
  return template.trim().replace(/\{\{(.+?)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`introduction.md has the unknown placeholder ${name}`)
    return value
  })
}
