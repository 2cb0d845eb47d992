/** The share of request lines that are logged by default: docs/cost.md has the bill that decided it. */
export const DEFAULT_LOG_SAMPLE_RATE = 0.1

type Level = 'info' | 'warn' | 'error'

/** Writes one structured line. Never pass a password, a code, a token or an e-mail address. */
export const log = (level: Level, message: string, fields: Record<string, unknown> = {}) =>
  console[level](JSON.stringify({ level, message, ...fields }))
