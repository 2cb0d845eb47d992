import { wrapEnv } from '../../support/wrap-database.ts'

export type Env = { DB: D1Database; DISTANCE_MS: number }

/** Moves the database DISTANCE_MS away. */
export const withDelay = wrapEnv<Env>(({ DISTANCE_MS }) => async (call) => {
  await scheduler.wait(DISTANCE_MS)
  return call()
})
