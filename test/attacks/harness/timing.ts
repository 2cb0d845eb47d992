// Statistics of response times.
import { quantile } from '../../support/service/http-client'

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const variance = (values: number[]) => {
  const average = mean(values)
  return values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1)
}

/** Welch's t of two samples. Above 4.5 in magnitude their means are taken to differ. */
const welch = (a: number[], b: number[]) =>
  (mean(a) - mean(b)) / Math.sqrt(variance(a) / a.length + variance(b) / b.length)
export const MAX_T = 4.5

/**
 * The largest Welch's t by magnitude: of the full samples, and of the values below several quantiles. Other load on
 * the machine slows some responses, which hides a difference that the fast ones show.
 */
export const largestWelch = (a: number[], b: number[]) => {
  const all = [...a, ...b]
  const bounds = [Number.POSITIVE_INFINITY, ...[0.9, 0.7, 0.5].map((share) => quantile(all, share))]
  const below = (values: number[], bound: number) => values.filter((value) => value < bound)
  const values = bounds.map((bound) => welch(below(a, bound), below(b, bound)))
  return values.reduce((largest, t) => (Math.abs(t) > Math.abs(largest) ? t : largest))
}
