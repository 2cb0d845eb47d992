import { wrapEnv } from '../wrap-database.ts'

/** Gives each database a queue of its own: it runs one query at a time, as D1 does, and each takes `queryMs`. */
export const withQueues = (queryMs: number) =>
  wrapEnv(() => {
    let freeAt = 0
    return async (call) => {
      freeAt = Math.max(freeAt, Date.now()) + queryMs
      await scheduler.wait(freeAt - Date.now())
      return call()
    }
  })
