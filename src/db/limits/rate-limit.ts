// The RateLimit headers (draft-ietf-httpapi-ratelimit-headers-11) of the limits that are shown.

import { tooManyRequests, wholeSeconds } from '../../errors'
import { type Batch, type Db, run } from '../client'
import { type Attempt, type Counted, countAttempt, deleteAttempt, type Usage } from './attempts'

/** `RateLimit-Policy` and `RateLimit`, or no headers if the attempt was not counted. */
export type RateLimitHeaders = Record<string, string>

const leftOf = ({ max, used }: Usage) => Math.max(0, max - used)
/** The end of the window of the oldest attempt, until which no attempt is restored. */
const endOf = ({ oldest, windowMs }: Usage, now: number) => (oldest ?? now) + windowMs
const secondsUntil = (time: number, now: number) => wholeSeconds((time - now) / 1000)

/** All policies, and the state of the tightest: that with the fewest attempts left or, of those, the longest wait. */
const toRateLimit = (usages: Usage[], now: number, change = (usage: Usage) => usage): RateLimitHeaders => {
  const shown = usages.filter(({ isShown }) => isShown).map(change)
  const [tightest] = shown.toSorted((a, b) => leftOf(a) - leftOf(b) || endOf(b, now) - endOf(a, now))
  if (!tightest) return {}
  const policies = shown.map(({ name, max, windowMs }) => `"${name}";q=${max};w=${windowMs / 1000}`)
  return {
    'RateLimit-Policy': policies.join(', '),
    RateLimit: `"${tightest.name}";r=${leftOf(tightest)};t=${secondsUntil(endOf(tightest, now), now)}`,
  }
}

/** The headers after an attempt was counted. `usages` are from before it. */
export const afterAttempt = (usages: Usage[], now: number) =>
  toRateLimit(usages, now, (usage) => ({ ...usage, used: usage.used + 1 }))

/** The headers after all attempts were deleted. */
export const afterReset = (usages: Usage[], now: number) =>
  toRateLimit(usages, now, (usage) => ({ ...usage, used: 0, oldest: null }))

export const isReached = ({ max, used }: Usage) => used >= max

/** The limit that refuses the attempt longest may be one that is not shown. */
export const tooManyAttempts = (usages: Usage[], now: number) => {
  const [last] = usages.filter(isReached).toSorted((a, b) => endOf(b, now) - endOf(a, now))
  // Without one, a concurrent attempt was counted in between.
  if (!last) return tooManyRequests(usages[0]?.name ?? '', 1)
  return tooManyRequests(last.name, secondsUntil(endOf(last, now), now), last.isShown ? toRateLimit(usages, now) : {})
}

/**
 * Counts an attempt in a call of its own.
 * @param before further statements, which run first
 * @throws TOO_MANY_REQUESTS when a limit is reached
 */
export const countOrRefuse = async <B extends Batch>(db: Db, attempt: Attempt, before: B = {} as B) => {
  const results = await run(db, { ...before, ...countAttempt(attempt) })
  const { usage, counted } = results
  if (counted.length === 0) throw tooManyAttempts(usage, attempt.now)
  return { ...results, rateLimit: afterAttempt(usage, attempt.now) }
}

/** Uncounts an attempt if the work that it allowed fails. */
export const uncountOnFailure = <T>(db: Db, counted: Counted, work: Promise<T>) =>
  work.catch(async (error) => {
    await run(db, { uncounted: deleteAttempt(counted) })
    throw error
  })
