import * as z from 'zod/mini'
import { READING_OUTCOMES } from '../../values/contract'
import { BookFormat, FULL_DATE, IdParameter, nameOf, nullableText, numberBetween, OR_NULL } from '../../values/fields'
import { named, namedLazy } from '../../values/named'

export const ReadingOutcome = named('ReadingOutcome', nameOf(READING_OUTCOMES, OR_NULL))

/** The most past readings of a book. */
export const MAX_READINGS = 200
/** With the current one. */
export const MAX_LISTED_READINGS = MAX_READINGS + 1
export const MAX_NOTE = 65_535

export const DATE = new RegExp(`^(?:${FULL_DATE}|\\d{4}(?:-(?:0[1-9]|1[0-2]))?)$`)
const DATE_FORMAT = /^\d{4}(?:-\d\d(?:-\d\d)?)?$/
const dateError = 'must be in the format yyyy, yyyy-MM or yyyy-MM-dd, or null'
export const readingDate = () =>
  z.string({ error: dateError }).check(
    z.regex(DATE, {
      error: ({ input }) => (DATE_FORMAT.test(String(input)) ? 'must be a valid calendar date' : dateError),
    }),
  )

const ratingError = 'must be a multiple of 0.25 between 0.25 and 5, or null'
export const rating = () =>
  numberBetween(0.25, 5, ratingError)
    // zod's multipleOf tolerates small differences, which would make the stars of the book a fraction.
    .check(z.refine((rating) => rating % 0.25 === 0, { error: ratingError }))
    .register(z.globalRegistry, { multipleOf: 0.25 })

const readingInput = () =>
  z.object({
    startedAt: z.nullish(readingDate()),
    finishedAt: z.nullish(readingDate()),
    outcome: z.nullish(ReadingOutcome),
    rating: z.nullish(rating()),
    format: z.nullish(BookFormat),
    note: z.optional(nullableText(MAX_NOTE)),
    paused: z.optional(z.boolean({ error: 'must be true or false' })),
  })
type ReadingInput = z.infer<ReturnType<typeof readingInput>>

export const beforeStartError = 'must not be before startedAt'
export const pausedError = 'must be false if the reading has an outcome'

/** Whether a reading does not end before it starts, as far as both dates are known. */
export const isInOrder = ({ startedAt, finishedAt }: Pick<ReadingInput, 'startedAt' | 'finishedAt'>) =>
  !startedAt || !finishedAt || finishedAt.slice(0, startedAt.length) >= startedAt.slice(0, finishedAt.length)

const checkCombination = ({ value, issues }: z.core.ParsePayload<ReadingInput>) => {
  const { finishedAt, outcome, paused } = value
  const reject = (field: keyof ReadingInput, message: string) =>
    issues.push({ code: 'custom', path: [field], message, input: value[field] })
  if (!isInOrder(value)) reject('finishedAt', beforeStartError)
  if (outcome === null && finishedAt) reject('finishedAt', 'must be null if outcome is null')
  if (paused && (outcome || finishedAt)) reject('paused', pausedError)
}

export const NewReading = namedLazy('NewReading', () => readingInput().check(checkCombination))
export type NewReading = z.infer<typeof NewReading>

export const ReadingPatch = namedLazy('ReadingPatch', () => readingInput().check(checkCombination))
export type ReadingPatch = z.infer<typeof ReadingPatch>

export const ReadingPath = z.lazy(() => z.object({ 'reading-id': IdParameter }))
