import { connect } from './db/client'
import type { Bindings } from './env'
import { purgeImages } from './images/bucket'
import { log } from './log'
import { runPurgeJobs, sweepAttempts } from './members/housekeeping'

/** The hourly cron job: deletes the images of withdrawn members, expired codes and old attempts. */
export const sweep = async (env: Bindings) => {
  const db = connect(env.DB)
  const outcomes = await Promise.allSettled([
    runPurgeJobs(db, (memberId) => purgeImages(env.IMAGES, memberId)),
    sweepAttempts(db),
  ])
  for (const outcome of outcomes) if (outcome.status === 'rejected') log('error', `sweep: ${outcome.reason}`)
}
