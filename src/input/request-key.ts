import type { MiddlewareHandler } from 'hono'
import { requiring } from '../db/caller'
import type { App } from '../env'
import { invalidParameters } from '../errors'
import { annotate } from '../http/description/route-metadata'
import type { Scope } from '../values/contract'

const HEADER = 'Idempotency-Key'
const keyError = 'must be 1 to 64 visible ASCII characters, in quotes or not'
/** A malformed key, as an error shows it. */
export const rejectKey = (key: string) => [HEADER, key, keyError] as const
// A string of RFC 8941 without spaces and escapes, as the draft says, or the same without quotes.
const KEY = /^(?:"([!#-[\]-~]{1,64})"|([!#-~]{1,64}))$/
const HASH_BYTES = 16

export const hashText = (text: string) => hashBytes(new TextEncoder().encode(text))
export const hashBytes = async (bytes: Uint8Array) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
    .subarray(0, HASH_BYTES)
    .toHex()

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07). Mount it before the validation of the body,
 * which adds the hash of the request.
 * @param shown the scope that the key needs, too, because the response to a replay shows the present state
 * @throws INVALID_PARAMETERS when it is malformed
 */
export const keyed = (...shown: Scope[]) =>
  annotate<MiddlewareHandler<App>>(
    async (c, next) => {
      const header = c.req.header(HEADER)
      if (header === undefined) return next()
      const [, quoted, unquoted] = KEY.exec(header) ?? []
      const key = quoted ?? unquoted
      if (key === undefined) throw invalidParameters(rejectKey(header))
      c.set('key', { keyHash: await hashText(key), requestHash: '' })
      c.set('caller', requiring(c.var.caller, ...shown))
      await next()
      if (c.res.ok && c.get('key')?.isReplayed) c.header('Idempotency-Replayed', 'true')
    },
    { keyed: true },
  )
