type Level = 'info' | 'warn' | 'error'

/** One structured line. It never holds a password, a code, a token or an e-mail address. */
export const log = (level: Level, message: string, fields: Record<string, unknown> = {}) =>
  console[level](JSON.stringify({ level, message, ...fields }))
