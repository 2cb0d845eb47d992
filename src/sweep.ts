import { connect } from './db/client'
import type { Bindings } from './env'
import { purgeImages } from './images/bucket'
import { log } from './log'
import { sweepAttempts } from './members/housekeeping'
import { runPurgeJobs } from './members/purge'

/** The hourly cron job: deletes what withdrawn members left behind, expired codes and old attempts. */
export const sweep = async (env: Bindings) => {
  const db = connect(env.DB)
  const outcomes = await Promise.allSettled([
    runPurgeJobs(db, (memberId) => purgeImages(env.IMAGES, memberId)),
    sweepAttempts(db),
  ])
  for (const outcome of outcomes) if (outcome.status === 'rejected') log('error', `sweep: ${outcome.reason}`)
}
