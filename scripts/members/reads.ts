import { formatTable, whole } from '../../test/support/service/table.ts'
import { queryAll } from '../slots/compare.ts'
import type { Target } from './find.ts'
import { listLimits, listQuotas } from './limits.ts'

const HIDDEN = ['passwordHash']

type Row = Record<string, unknown>

const listLinks = ({ database, memberId }: Target) =>
  queryAll<Row>(
    database,
    `select tokenId as linkId, name, kind, bookStatus, (
      select tag from tags where tags.memberId = accessTokens.memberId and tags.tagId = accessTokens.tagId
    ) as tag, year, showName, createdAt, date(lastUsedDay * 86400, 'unixepoch') as lastUsedAt
    from accessTokens where memberId = ? and kind is not null order by createdAt desc`,
    memberId,
  )

/** Prints times in ISO 8601. They are stored as milliseconds since 1970. */
const toJson = (value: unknown) =>
  JSON.stringify(
    value,
    (name, each) => (/At$/.test(name) && typeof each === 'number' ? new Date(each).toISOString() : each),
    2,
  )

const links = async (target: Target) => toJson(await listLinks(target))

const show = async (target: Target) => {
  const { slot, database, memberId } = target
  const select = (columns: string, table: string) =>
    queryAll<Row>(database, `select ${columns} from ${table} where memberId = ?`, memberId)
  const [member] = await select('*', 'members')
  const shown = {
    slot,
    ...Object.fromEntries(Object.entries(member ?? {}).filter(([name]) => !HIDDEN.includes(name))),
    sessions: await select('createdAt, renewedAt, expiresAt, device, country', 'sessions'),
    accessTokens: await select(
      'tokenId, name, hint, createdAt, expiresAt',
      `(select * from accessTokens where kind is null)`,
    ),
    links: await listLinks(target),
    // Half of the bytes, as in textBytes.
    trash: (await select('count(*) as entries, coalesce(sum(bytes), 0) as bytes', 'trash'))[0],
    formerAddresses: await select('email, expiresAt', 'emailUndos'),
    limits: await listLimits(target),
  }
  return toJson(shown)
}

const usage = async (target: Target) => {
  const quotas = await listQuotas(target)
  const rows = quotas.map(({ name, used, limit, isOwn }) => [name, whole(used), whole(limit), isOwn ? 'own' : ''])
  return formatTable(['quota', 'used', 'limit', ''], rows)
}

/** Commands that print something about a member. */
export const READS = new Map<string, (target: Target) => Promise<string>>(Object.entries({ show, usage, links }))
