import { type SQL, sql } from 'drizzle-orm'
import { accountSubject, keyedHash } from '../../auth/keyed-hash'
import { sqlStatement } from '../../db/client'
import { limitNetwork, MAILS, MAILS_PER_NETWORK } from '../../db/limits/attempts'
import type { Config } from '../../env'
import { DAY_MS } from '../../values/time'

/** Hashes an address, regardless of case, for a purpose: those of people who are not members are never stored. */
export const hashFor =
  ({ JWT_SECRET }: Pick<Config, 'JWT_SECRET'>, email: string) =>
  (purpose: string, ...more: string[]) =>
    keyedHash(JWT_SECRET, purpose, email.toLowerCase(), ...more)

/** The address without its tag: mails to `user+tag@host` usually reach the mailbox of `user@host`. */
export const withoutTag = (email: string) => email.replace(/^([^+]+)\+.*(?=@)/, '$1')

/** Like `hashFor`, for limits on mails, so that tags do not multiply them. */
export const hashMailbox = (config: Config, email: string) => hashFor(config, withoutTag(email))

/** The limits of a network on its mails: to an address by an action, and to all. None depends on other networks. */
export const limitMails = async (config: Config, email: string, network: string, action: string) => {
  const toAddress = (source: string, suffix: string) =>
    accountSubject(config.JWT_SECRET, withoutTag(email), action + suffix, source)
  const toAnyone = (source: string) => keyedHash(config.JWT_SECRET, 'mail-network', source)
  return [
    ...(await limitNetwork(network, toAddress, MAILS)),
    ...(await limitNetwork(network, toAnyone, MAILS_PER_NETWORK)),
  ]
}

/** The UTC day, counted from 1970. */
export const dayOf = (now: number) => Math.floor(now / DAY_MS)

const mailsToday = sql`coalesce((select mails from dailyMails where day = :day), 0)`
/** Matches while fewer than `mailsPerDay` codes have been mailed on the day. */
export const isBelowDailyMails = sql`${mailsToday} < :mailsPerDay`
/** The log message when that limit is reached. */
export const DAILY_MAILS_SENT = 'mail: MAILS_PER_DAY mails were sent today'

export const countDailyMailIf = (condition: SQL, mails = sql`1`) =>
  sqlStatement`
    insert into dailyMails (day, mails) select :day, ${mails} where ${condition}
    on conflict (day) do update set mails = mails + excluded.mails`
export const uncountDailyMail = sqlStatement`update dailyMails set mails = mails - 1 where day = :day`
