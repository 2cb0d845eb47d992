import { credentialOf } from '../auth/token'
import type { App } from '../env'
import { createRecent } from '../runtime/recent'
import { toBits } from '../values/contract'

// What this isolate has learned about credentials from the database. It saves calls and decides whom a request is
// charged to, but never grants anything: the database checks the caller of every statement.

type Caller = App['Variables']['caller']

/** How long the database's verdict on a credential saves a call that would only repeat it. */
const VERDICT_MS = 60_000
const MAX_KNOWN = 10_000

/** `scopes`: bits of contract.ts; undefined for a session, which has all. */
type Confirmed = { memberId: number; scopes: number | undefined; at: number }
const confirmed = createRecent<Confirmed>(MAX_KNOWN)
// Kept apart, so that made-up access tokens do not push out sessions, which only the service can issue.
const ended = { sessions: createRecent<number>(MAX_KNOWN), tokens: createRecent<number>(MAX_KNOWN) }

const endedLike = (caller: Caller) => ('sessionId' in caller ? ended.sessions : ended.tokens)

/**
 * Whether the database refused the credential within the last minute. It becomes valid again only if a block is lifted.
 */
export const hasEnded = (caller: Caller) => (endedLike(caller).get(credentialOf(caller)) ?? 0) > Date.now() - VERDICT_MS

/** The member of a credential that the database has confirmed at any time. */
export const knownMember = (caller: Caller) => caller.memberId ?? confirmed.get(credentialOf(caller))?.memberId

/** The member of a credential that the database confirmed within the last minute, with all scopes that are required. */
export const confirmedMember = (caller: Caller) => {
  const known = confirmed.get(credentialOf(caller))
  if (!known || known.at <= Date.now() - VERDICT_MS) return undefined
  if ('sessionId' in caller) return known.memberId
  const required = toBits(caller.required)
  return required !== 0 && ((known.scopes ?? 0) & required) === required ? known.memberId : undefined
}

/** Remembers whether the database accepted the credential in this request. */
export const rememberVerdict = (caller: Caller) => {
  const { memberId, verdict } = caller
  const key = credentialOf(caller)
  if (verdict === 'invalid') {
    endedLike(caller).set(key, Date.now())
    confirmed.delete(key)
  } else if (verdict === 'valid' && memberId !== undefined) {
    confirmed.set(key, { memberId, scopes: 'scopes' in caller ? caller.scopes : undefined, at: Date.now() })
  }
}
