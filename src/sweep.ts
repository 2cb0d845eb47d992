import { connect } from './db/client'
import type { Bindings } from './env'
import { log } from './http/log'
import { purgeImages } from './images/bucket'
import { runPurgeJobs, sweepAttempts } from './members/housekeeping'

/** What is done once an hour: what an answer left to do, and what time has made worthless. */
export const sweep = async (env: Bindings) => {
  const db = connect(env.DB)
  const outcomes = await Promise.allSettled([
    runPurgeJobs(db, (memberId) => purgeImages(env.IMAGES, memberId)),
    sweepAttempts(db),
  ])
  for (const outcome of outcomes) if (outcome.status === 'rejected') log('error', `sweep: ${outcome.reason}`)
}
