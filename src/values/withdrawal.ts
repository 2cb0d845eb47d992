// What a withdrawal writes, apart from its rows. It has no imports, because scripts use it, too.

/** The SET clause that erases a withdrawn member's row. No address has this form, and no password an empty hash. */
export const ERASED = `email = 'withdrawn-' || memberId, name = '', passwordHash = '', blockedAt = null, maxBooks = null,
    maxTextBytes = null, maxImageBytes = null, timeZone = null`

/** The prefix of the keys of the objects that mark withdrawals, in whose order the oldest come first. */
export const MARKS = 'withdrawn/'
const KEY = /^withdrawn\/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\/([1-9]\d{0,15})$/

/** The keys of marks of a time, in milliseconds since 1970, begin with this. */
export const marksOf = (at: number) => `${MARKS}${new Date(at).toISOString()}/`

/** @param at when the member withdrew: after a restore, another one can have the identifier */
export const toMark = (memberId: number, at: number) => `${marksOf(at)}${memberId}`

export const parseMark = (key: string) => {
  const [, at, memberId] = KEY.exec(key) ?? []
  return at && memberId ? { at: Date.parse(at), memberId: Number(memberId) } : undefined
}
