// Keys that make creations safe to repeat.
import * as fc from 'fast-check'
import type { Expected } from './commands'
import type { Library } from './library'

export type Key = string | undefined
/** Few, so that they meet; mostly none. */
export const someKey = fc.constantFrom<Key>(undefined, undefined, undefined, undefined, 'one', 'two')

export const withKey = (key: Key) => (key ? { headers: { 'Idempotency-Key': key } } : {})

type Creation = {
  request: object
  /** Without an identifier, nothing was created. */
  create: () => Expected & { id?: number }
  /** What was created, as it is now. Undefined if it was deleted. */
  show: (id: number) => unknown
}

/** With a key, creates only once. */
export const createOnce = ({ keys }: Library, key: Key, { request, create, show }: Creation): Expected => {
  const used = key && keys.get(key)
  const sent = JSON.stringify(request)
  if (!used) {
    const { id, ...expected } = create()
    if (key && id) keys.set(key, { id, sent })
    return expected
  }
  if (used.sent !== sent) return { status: 422 }
  const body = show(used.id)
  return body ? { status: 201, body } : { status: 410 }
}
