import type { Context } from 'hono'
import type { App } from '../env'
import { log } from '../runtime/log'

/** Runs work after the response, so that response times do not reveal what it does. Logs errors. */
export const runLater = (c: Context<App>, work: () => Promise<unknown>) => {
  const later = async () => {
    // Lets the response be sent first.
    await scheduler.wait(0)
    await work()
  }
  c.var.db.waitUntil(later().catch((error: Error) => log('error', error.message)))
}
