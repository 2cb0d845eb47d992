import { type SQL, sql } from 'drizzle-orm'
import { sourcesOf } from '../../values/text/network'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../values/time'
import { callerId } from '../caller'
import { sqlStatement } from '../client'

// Exact limits: one statement checks all of an attempt and counts it, so concurrent attempts cannot exceed one.

/**
 * At most `max` attempts in a sliding window. `name`: in docs/limits.md and the log. A limit that `isShown` is in the
 * RateLimit headers, so it may count nothing but what the caller did, or the caller's network with one address.
 */
export type Limit = { name: string; max: number; windowMs: number; isShown?: true }

/** Limits of a network: an IPv4 address or an IPv6 /64. `site`: of the /48, as one customer may hold all its /64s. */
type NetworkLimits = { network: Limit[]; site: Limit[] }

/** Ends the names of the limits of a /48, and of what is counted for one. */
const OF_SITE = '-site'
/** The limit of a /48 is three times that of one network. */
const perNetwork = (...network: Limit[]): NetworkLimits => ({
  network,
  site: network.map(({ name, max, windowMs }) => ({ name: name + OF_SITE, max: 3 * max, windowMs })),
})

/** Per account. */
export const LOGINS = perNetwork({ name: 'failed-login', max: 10, windowMs: 15 * MINUTE_MS, isShown: true })
/** Mails to one e-mail address, ignoring its tag; `address` counts those of all networks. */
export const MAILS = {
  network: [
    { name: 'mail-hour', max: 5, windowMs: HOUR_MS, isShown: true },
    { name: 'mail-day', max: 8, windowMs: DAY_MS, isShown: true },
  ],
  site: [{ name: `mail-day${OF_SITE}`, max: 16, windowMs: DAY_MS }],
  address: [{ name: 'mail-day-all', max: 20, windowMs: DAY_MS }],
} satisfies NetworkLimits & { address: Limit[] }
/** Mails to all addresses. */
export const MAILS_PER_NETWORK = perNetwork({ name: 'mail-any', max: 30, windowMs: HOUR_MS })
/** Codes tried for one e-mail address, also to change it in a session; `address` counts those of all networks. */
export const GUESSES = {
  ...perNetwork({ name: 'code-attempt', max: 20, windowMs: DAY_MS, isShown: true }),
  address: [{ name: 'code-attempt-all', max: 100, windowMs: DAY_MS }],
}
/**
 * Mails with a reset code to one address, requested from all networks, since the last change of credentials. The window
 * is the lifetime of a code, so that the mailbox has a valid code when the limit is reached: strangers cannot lock the
 * member out. Not shown, as it counts the requests of others.
 */
export const RESET_MAILS: Limit[] = [{ name: 'reset-mail', max: 2, windowMs: 10 * MINUTE_MS }]
/**
 * Reset codes tried for one e-mail address. No limit counts the tries of other networks, so that strangers cannot lock
 * the member out; the codes are long enough (docs/decisions.md).
 */
export const RESETS = perNetwork({ name: 'reset-attempt', max: 5, windowMs: 10 * MINUTE_MS, isShown: true })
/** The same for all addresses. */
export const RESETS_OF_ANYONE = perNetwork({ name: 'reset-any', max: 30, windowMs: HOUR_MS })
/** Mails to a new address, which may be someone else's, so they are not shown. `memberAddress`: of one member. */
export const EMAIL_CHANGES = {
  session: [{ name: 'email-change', max: 5, windowMs: HOUR_MS, isShown: true }],
  memberAddress: [{ name: 'change-mail', max: 2, windowMs: 10 * MINUTE_MS }],
  address: MAILS.address,
} satisfies Record<string, Limit[]>
/** Mails about new access tokens and links, per member. */
export const TOKEN_MAILS: Limit[] = [{ name: 'token-mail', max: 1, windowMs: HOUR_MS }]
/** Per session: another holder of a session must not keep the member from changing the password. */
export const PASSWORD_CHANGES: Limit[] = [{ name: 'password-change', max: 10, windowMs: HOUR_MS, isShown: true }]
/** Per member: exports in all formats, and further parts of large ones. */
export const EXPORTS: Limit[] = [{ name: 'export', max: 20, windowMs: DAY_MS, isShown: true }]
export const EXPORT_PARTS: Limit[] = [{ name: 'export-part', max: 400, windowMs: DAY_MS, isShown: true }]
/** New tokens of devices, per member: each may send as many files. */
export const DEVICE_TOKENS: Limit[] = [{ name: 'device-token', max: 50, windowMs: DAY_MS }]
/** Per access token: files that a device sends, by protocol. The same file again does not count. */
export const DEVICE_FILES = {
  webdav: [{ name: 'webdav-file', max: 200, windowMs: DAY_MS }],
  statistics: [{ name: 'statistics-file', max: 200, windowMs: DAY_MS }],
  readwise: [{ name: 'readwise-post', max: 2000, windowMs: DAY_MS }],
} satisfies Record<string, Limit[]>
/** Searches of the catalogue: YES24 allows 5,000 a day. Not shown, as it counts everyone in the network. */
export const CATALOGUE_SEARCHES = perNetwork(
  { name: 'catalogue-hour', max: 100, windowMs: HOUR_MS },
  { name: 'catalogue-day', max: 300, windowMs: DAY_MS },
)
/** Searches of the catalogue and lookups by ISBN of a member, whatever the network. */
export const CATALOGUE_LOOKUPS: Limit[] = [
  { name: 'lookup-hour', max: 200, windowMs: HOUR_MS },
  { name: 'lookup-day', max: 600, windowMs: DAY_MS },
]
/** Failed logins that a member's activity lists, from all networks. */
export const LISTED_FAILURES: Limit[] = [{ name: 'listed-failure', max: 20, windowMs: DAY_MS }]
/** Older attempts no longer count for any limit. */
export const LONGEST_WINDOW_MS = DAY_MS

/** A keyed hash of the action and its target, and the limits on it. */
type Limited = { subject: string; limits: Limit[] }

/** The subjects and limits of a network and, for IPv6, of the /48 around it. `suffix`: ends the name of the action. */
export const limitNetwork = async (
  network: string,
  toSubject: (network: string, suffix: string) => Promise<string>,
  limits: NetworkLimits,
): Promise<Limited[]> => {
  const [, site] = sourcesOf(network)
  return [
    { subject: await toSubject(network, ''), limits: limits.network },
    ...(site ? [{ subject: await toSubject(site, OF_SITE), limits: limits.site }] : []),
  ]
}

/** The parameters of the statements below. */
export const toAttempt = (now: number, ...limited: Limited[]) => ({
  now,
  limits: JSON.stringify(
    limited.flatMap(({ subject, limits }) =>
      limits.map((limit) => ({ ...limit, subject, since: now - limit.windowMs })),
    ),
  ),
})

const limits = sql`json_each(:limits) as bound`
const bound = (key: keyof Limit | 'subject' | 'since') => sql.raw(`bound.value ->> '${key}'`)
const inWindow = sql`from attempts where subject = ${bound('subject')} and at > ${bound('since')}`
const used = sql`(select count(*) ${inWindow})`

/** True while an attempt is within all its limits. */
export const isAllowed = sql`not exists (select 1 from ${limits} where ${used} >= ${bound('max')})`

/** Counts an attempt, once for each subject, if a condition is met; otherwise returns no row. */
export const insertAttemptIf = (condition: SQL, at = sql`:now`) =>
  sqlStatement<{ attemptId: number }>`
    insert into attempts (subject, at)
    select distinct ${bound('subject')}, ${at} from ${limits} where ${condition}
    returning attemptId`

export type Attempt = ReturnType<typeof toAttempt>

/** Counts an attempt, or returns no row when a limit is reached. */
export const insertAttempt = insertAttemptIf(isAllowed)
/** The same for an attempt of the caller; it also returns no row when the token is no longer valid. */
export const insertCallerAttempt = insertAttemptIf(sql`${isAllowed} and ${callerId} is not null`)

/** A limit, how many attempts count towards it, and the time of the oldest of them. */
export type Usage = {
  name: string
  isShown: 1 | null
  max: number
  windowMs: number
  used: number
  oldest: number | null
}

/** The usage of each limit. Run it before the attempt is counted. */
export const selectUsage = sqlStatement<Usage>`
  select ${bound('name')} as name, ${bound('isShown')} as isShown, ${bound('max')} as max, ${bound('windowMs')} as windowMs,
    ${used} as used, (select min(at) ${inWindow}) as oldest
  from ${limits}`

/** The rows of an attempt that was counted. */
export type Counted = { attemptId: number }[]

const deleteByIds = sqlStatement`
  delete from attempts where attemptId in (select value from json_each(:attemptIds))`
/** Uncounts an attempt. */
export const deleteAttempt = (counted: Counted) =>
  deleteByIds({ attemptIds: JSON.stringify(counted.map(({ attemptId }) => attemptId)) })

/** The statements that count an attempt unless a limit is reached. */
export const countAttempt = (attempt: Attempt) => ({ usage: selectUsage(attempt), counted: insertAttempt(attempt) })

/** Deletes all attempts on the subjects of an attempt. */
export const deleteAttempts = sqlStatement`
  delete from attempts where subject in (select ${bound('subject')} from ${limits})`

export const deleteAttemptsBefore = sqlStatement`delete from attempts where at < :before`
