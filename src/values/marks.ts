// Marks are empty objects in the bucket: after an older database is restored, what they say is repeated. No imports,
// because scripts use this file.

/** The prefix of the keys of marks, in whose order the oldest come first. */
export const MARKS = 'marks/'
const KEY =
  /^marks\/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\/([1-9]\d{0,15})\/(withdrawn|password|operator)(?: (.+))?$/

/**
 * What happened to a member (0: to none), and when: a withdrawal, a new password or the deletion of one, or an action of an operator.
 * After a restore, another member can have the identifier.
 */
export type Mark = { at: number; memberId: number; kind: 'withdrawn' | 'password' | 'operator'; action?: string }

/** The keys of marks of a time, in milliseconds since 1970, begin with this. */
export const marksOf = (at: number) => `${MARKS}${new Date(at).toISOString()}/`

// A backup has a folder for each slash of a key.
const encode = (action: string) => action.replace(/[%/]/g, encodeURIComponent)
const decode = (action: string) => action.replace(/%25|%2F/g, decodeURIComponent)

export const toMark = ({ at, memberId, kind, action }: Mark) =>
  `${marksOf(at)}${memberId}/${kind}${action ? ` ${encode(action)}` : ''}`

export const parseMark = (key: string): Mark | undefined => {
  const [, at, memberId, kind, action = ''] = KEY.exec(key) ?? []
  if (!at || !memberId) return undefined
  return { at: Date.parse(at), memberId: Number(memberId), kind: kind as Mark['kind'], action: decode(action) }
}
