/**
 * Repeats a call of a database if it could not be sent: wrangler's proxy closes a connection that this process has not
 * used for seconds, now and then as a call begins. Only for calls that may also run twice.
 */
export const repeatUnsent = async <T>(call: () => Promise<T>): Promise<T> => {
  try {
    return await call()
  } catch (error) {
    if ((error as Error).message !== 'fetch failed') throw error
    return call()
  }
}
