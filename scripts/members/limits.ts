import {
  CATALOGUE_LOOKUPS,
  DEVICE_FILES,
  DEVICE_TOKENS,
  EMAIL_CHANGES,
  EXPORT_PARTS,
  EXPORTS,
  GUESSES,
  type Limit,
  LOGINS,
  MAILS,
  PASSWORD_CHANGES,
  RESETS,
} from '../../src/db/limits/attempts.ts'
import { MAX_PER_DAY } from '../../src/transfer/imports/schema.ts'
import { FILES } from '../../src/transfer/imports/store.ts'
import { IMAGE_PRICE } from '../../src/values/prices.ts'
import { DEFAULT_QUOTAS, OWN_QUOTAS, type OwnQuota, type Quota } from '../../src/values/quotas.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/values/time.ts'
import { whole } from '../../test/support/service/table.ts'
import { queryAll } from '../slots/compare.ts'
import { listAttempts } from './attempts.ts'
import type { Target } from './find.ts'

const perNetwork = (action: string, { network, site }: { network: Limit[]; site: Limit[] }) => ({
  [action]: network,
  [`${action}-site`]: site,
})

/** The limits that count attempts of an account, by the action in their subjects. */
const LIMITS: Record<string, Limit[]> = {
  ...perNetwork('login', LOGINS),
  ...perNetwork('mail', MAILS),
  ...perNetwork('reset-mail', MAILS),
  ...perNetwork('change-mail', MAILS),
  ...perNetwork('reset', RESETS),
  ...perNetwork('change-code', GUESSES),
  'email-change': EMAIL_CHANGES.session,
  'password-change': PASSWORD_CHANGES,
  lookup: CATALOGUE_LOOKUPS,
  'import-file': FILES,
  'device-token': DEVICE_TOKENS,
  webdav: DEVICE_FILES.webdav,
  statistics: DEVICE_FILES.statistics,
  readwise: DEVICE_FILES.readwise,
  export: EXPORTS,
  'export-part': EXPORT_PARTS,
}
/** The same limits apply to each of these actions. */
const MAIL_ACTION = /^(?:mail|(?:reset|change)-mail)(?=$|-site)/

/** What `limits` says of limits that nothing here can read. */
const NOT_COUNTED = {
  'NETWORK_LIMIT, MEMBER_LIMIT, SEARCH_LIMIT, DEVICE_LIMIT, WRITE_LIMIT, CREDENTIAL_LIMIT':
    'counted for a minute, outside the databases: see the log',
  'hashing, image-cleaning': 'of each isolate: see the log',
}

const toWindow = (ms: number) => (ms < HOUR_MS ? `${ms / MINUTE_MS} minutes` : `${ms / HOUR_MS} h`)

const countRecent = async (target: Target) => {
  const attempts = await listAttempts(target)
  if (!attempts) return { attempts: 'unknown without JWT_SECRET' }
  const now = Date.now()
  const counts = Object.entries(LIMITS).flatMap(([action, limits]) =>
    limits.map(({ name, max, windowMs }) => {
      const numbers = new Map<string, number>()
      for (const { subject, at } of attempts)
        if (at > now - windowMs && subject.split(' ')[1] === action)
          numbers.set(subject, (numbers.get(subject) ?? 0) + 1)
      // Networks, sessions, devices and kinds of callers are counted apart: the one with the most counts.
      const used = Math.max(0, ...numbers.values())
      const [mail] = MAIL_ACTION.exec(action) ?? []
      const label = mail ? `${name} (${mail})` : name
      return [label, `${used} of ${max} in ${toWindow(windowMs)}`] as const
    }),
  )
  return Object.fromEntries(counts)
}

const USED: Record<Quota, string> = {
  MAX_BOOKS: 'yetBooks + ingBooks + doneBooks',
  MAX_MEMOS_PER_BOOK: 'coalesce((select max(memoCount) from books where books.memberId = members.memberId), 0)',
  MAX_BOOK_TEXT_BYTES: 'coalesce((select max(memoBytes) from books where books.memberId = members.memberId), 0)',
  MAX_MEMBER_TEXT_BYTES: 'textBytes',
  MAX_MEMBER_IMAGE_BYTES: `imageBytes + imageCount * ${IMAGE_PRICE}`,
  MAX_IDEMPOTENCY_KEYS: 'keyCount',
}

/** What the member stores, and the quotas; of those of a book, for the book that has the most. */
export const listQuotas = ({ database, settings, memberId }: Target) =>
  Promise.all(
    Object.entries(USED).map(async ([name, used]) => {
      const own = OWN_QUOTAS[name as OwnQuota] ?? 'null'
      const query = `select ${used} as used, ${own} as own from members where memberId = ?`
      const [row] = await queryAll<{ used: number; own: number | null }>(database, query, memberId)
      const limit = row?.own ?? Number(settings[name] || DEFAULT_QUOTAS[name as Quota])
      return { name, used: row?.used ?? 0, limit, isOwn: row?.own != null }
    }),
  )

const countImports = async ({ database, memberId }: Target) => {
  const query = `select count(*) as used from imports
    where memberId = ? and importId > ? and isDryRun = 0 and tokenId is null`
  const [row] = await queryAll<{ used: number }>(database, query, memberId, Date.now() - DAY_MS)
  return `${row?.used ?? 0} of ${MAX_PER_DAY} in 24 h`
}

/** How much of each limit the member has used, by the names that the log has. */
export const listLimits = async (target: Target) => {
  const quotas = await listQuotas(target)
  return {
    ...Object.fromEntries(quotas.map(({ name, used, limit }) => [name, `${whole(used)} of ${whole(limit)}`])),
    import: await countImports(target),
    ...(await countRecent(target)),
    ...NOT_COUNTED,
  }
}
