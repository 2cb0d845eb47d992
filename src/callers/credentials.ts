import { credentialOf } from '../auth/token'
import type { Caller } from '../db/caller'
import type { ConfirmedMember } from '../db/client'
import { createRecent } from '../runtime/recent'
import { toBits } from '../values/contract'

// What this isolate has learned about credentials from the database. It saves calls and decides whom a request is
// charged to, but never grants anything: the database checks the caller of every statement.

/** How long what the database found saves a call that would only repeat it. */
const TRUST_MS = 60_000
const MAX_KNOWN = 10_000

const confirmed = createRecent<{ member: ConfirmedMember; at: number }>(MAX_KNOWN)
// Kept apart, so that made-up access tokens do not push out sessions, which only the service can issue.
const ended = { sessions: createRecent<number>(MAX_KNOWN), tokens: createRecent<number>(MAX_KNOWN) }

const endedLike = (caller: Caller) => (caller.kind === 'session' ? ended.sessions : ended.tokens)

/** Whether the database refused the credential within the last minute. Only lifting a block makes it valid again. */
export const hasEnded = (caller: Caller) => (endedLike(caller).get(credentialOf(caller)) ?? 0) > Date.now() - TRUST_MS

/** The member of a credential that the database has confirmed at any time. */
export const knownMember = (caller: Caller) =>
  caller.kind === 'session' ? caller.memberId : confirmed.get(credentialOf(caller))?.member.memberId

/** The member of a credential that the database confirmed within the last minute, with all rights that are required. */
export const confirmedMember = (caller: Caller) => {
  const known = confirmed.get(credentialOf(caller))
  if (!known || known.at <= Date.now() - TRUST_MS) return undefined
  if (caller.kind === 'session') return known.member
  const required = toBits(caller.required)
  return required !== 0 && (known.member.scopes & required) === required ? known.member : undefined
}

/** Remembers what the database found. */
export const remember = (caller: Caller, found: ConfirmedMember | 'ended') => {
  const key = credentialOf(caller)
  if (found === 'ended') {
    endedLike(caller).set(key, Date.now())
    confirmed.delete(key)
  } else confirmed.set(key, { member: found, at: Date.now() })
}
