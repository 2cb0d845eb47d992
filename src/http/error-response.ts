import type { Context } from 'hono'
import type { App } from '../env'
import { ApiError, ERRORS, methodNotAllowed, toErrorBody } from '../errors'
import { log } from '../runtime/log'

/** What was thrown, as an error of the service, after logging its cause. */
export const toApiError = (c: Context<App>, error: Error) => {
  const slot = c.get('caller')?.slot || undefined
  if (!(error instanceof ApiError)) {
    log('error', error.message, { slot, stack: error.stack })
    return new ApiError('INTERNAL')
  }
  if (error.cause) log('error', error.message, { slot })
  return error
}

export const errorResponse = (c: Context, { code, details }: ApiError) => {
  const [httpStatus] = ERRORS[code]
  const headers = { 'X-Error-Code': code, ...details.headers }
  const challenge = { 'WWW-Authenticate': 'Bearer' }
  return c.json(toErrorBody(code, details), httpStatus, httpStatus === 401 ? { ...challenge, ...headers } : headers)
}

/**
 * Responds 405 to all methods except those that earlier routes of the path handle. Mounted on fixed paths such as
 * `/memos/random`, so that other methods do not fall through to `/memos/{memo-id}`.
 */
export const allowOnly =
  (...methods: string[]) =>
  (): never => {
    throw methodNotAllowed(methods)
  }
