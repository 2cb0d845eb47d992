import type { Context } from 'hono'
import type { App } from '../env'

/** Waits for what the client sends. The log counts that time apart from what the service takes. */
export const waitForClient = async <T>(c: Context<App>, read: () => Promise<T>): Promise<T> => {
  const start = Date.now()
  try {
    return await read()
  } finally {
    c.set('clientMs', (c.get('clientMs') ?? 0) + Date.now() - start)
  }
}
