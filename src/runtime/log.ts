import { AsyncLocalStorage } from 'node:async_hooks'

/** The share of request lines that are logged by default: docs/cost.md has the bill that decided it. */
export const DEFAULT_LOG_SAMPLE_RATE = 0.1

type Level = 'info' | 'warn' | 'error'
type Fields = Record<string, unknown>

const shared = new AsyncLocalStorage<Fields>()

/** Adds fields to every line that the work logs, also after its response. */
export const withLogFields = <T>(fields: Fields, work: () => T) => shared.run(fields, work)

/** Writes one structured line. Never pass a password, a code, a token or an e-mail address. */
export const log = (level: Level, message: string, fields: Fields = {}) =>
  console[level](JSON.stringify({ level, message, ...shared.getStore(), ...fields }))
