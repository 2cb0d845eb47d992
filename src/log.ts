type Level = 'info' | 'warn' | 'error'

/** Writes one structured line. Never pass a password, a code, a token or an e-mail address. */
export const log = (level: Level, message: string, fields: Record<string, unknown> = {}) =>
  console[level](JSON.stringify({ level, message, ...fields }))
