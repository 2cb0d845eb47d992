// What is stored of the members that flows write to.
import { keyedHash } from '../../../../src/auth/keyed-hash'
import { sessionIdOf } from '../../../support/tokens'
import type { Stage, Subject } from './subjects'

/** Selects what the member ?2 records about books beyond the contract. */
const DETAILS = `
  select concat('edition ', isbn, series, ' page ', currentPage) as thing from books where memberId = ?2
  union select concat('progress ', page, kind) from progress where memberId = ?2
  union select concat('tag ', tag, bookCount) from tags where memberId = ?2
  union select concat('tag of ', title, ': ', tag)
    from bookTags join tags using (memberId, tagId) join books using (bookId) where bookTags.memberId = ?2
  union select concat('author ', author, bookCount) from authors where memberId = ?2`

/** Counts what the member ?2 has created with a key, and the entries of the log of changes. */
const SYNC = `
  select concat_ws(' ', 'keys', (select count(*) from idempotencyKeys where memberId = ?2),
    'books', (select count(*) from books where memberId = ?2 and title = 'Once'),
    'memos', (select count(*) from memos where memberId = ?2 and memoContent = 'Once'),
    'readings', (select count(*) from allReadings where memberId = ?2 and note = 'Once'),
    'images', (select count(*) from images join idempotencyKeys using (memberId) where memberId = ?2),
    'log', (select count(*) from changes where memberId = ?2)) as thing, null as id`

const TRASH = `
  select 'deleted ' || iif(trashId > 0, 'book ', 'memo of ') || title || memoCount as thing, null as id from trash
  where memberId = ?2`

const DOCUMENTS = `
  select concat_ws(' ', 'document', title, isByHand, bookId is not null, percentage, isReplayed) as thing, null as id
  from documents join positions using (memberId, document) where memberId = ?2`

/** What was counted of the reading statistics of the member ?2. */
const STATISTICS = `
  select concat_ws(' ', 'statistics', hash, sittings, (select sum(seconds) from sittings where memberId = ?2)) as thing, null as id
  from statisticsFiles where memberId = ?2`

type Stored = { thing: string; id: string | null }

/** The distinct things a subject has, without what differs between subjects. */
export const readState = async ({ secret, home, bucket }: Stage, subject: Subject) => {
  const { email, newEmail, memberId, tokenId, linkId, otherSessions } = subject
  const names = new Map([
    [email, 'first'],
    [newEmail, 'new'],
    [tokenId, 'first'],
    [linkId, 'first'],
    [sessionIdOf(memberId), 'own'],
    ...otherSessions.map((id, n): [string, string] => [id, `other ${n}`]),
  ])
  const select = (query: string) =>
    home.database
      .prepare(`
        with subject as (
          select memberId, email, name, credentialsVersion, passwordHash from members
          where (email = ?1 or memberId = ?2) and withdrawnAt is null
        )
        ${query}`)
      .bind(email, memberId)
  const [account, library, version, sync, ...others] = await home.database.batch<
    Stored & { credentialsVersion: number }
  >([
    select(`
      select 'member ' || name || (credentialsVersion > 0) || (passwordHash = '') as thing, email as id from subject
      union select iif(renewedAt > createdAt, 'renewed session', 'session'), sessionId from sessions join subject using (memberId)
      union select iif(kind is null, 'access token', 'link ' || accessTokens.name), tokenId
        from accessTokens join subject using (memberId)
      union select 'undo', emailUndos.email from emailUndos join subject using (memberId)
      union select kind, null from activity join subject using (memberId)`),
    select(`
      select 'book ' || title || star || bookStatus || (createdAt < '2025') || hasMemos as thing, null as id
      from books where memberId = ?2
      union select 'reading ' || coalesce(finishedAt, '') || coalesce(quarters, ''), null from allReadings where memberId = ?2
      union select thing, null from (${DETAILS})
      union select 'memo ' || memoContent || memoType, null from memos where memberId = ?2
      union select 'purge job', null from purgeJobs where memberId = ?2`),
    select('select credentialsVersion from subject'),
    select(SYNC),
    select(TRASH),
    select(DOCUMENTS),
    select(STATISTICS),
  ])
  const rows = [account, library, sync, ...others].flatMap((selected) => selected?.results ?? [])
  const things = rows.map(({ thing, id }) => (id === null ? thing : `${thing} ${names.get(id) ?? 'another'}`))
  const [member] = version?.results ?? []
  // Once an address has a member, codes for signing up with it are of no use.
  const validCode = member
    ? home.directory
        .prepare('select 1 from accountCodes where memberId = ? and credentialsVersion = ?')
        .bind(memberId, member.credentialsVersion)
    : home.directory.prepare('select 1 from joinCodes where address = ?').bind(await keyedHash(secret, 'code', email))
  if (await validCode.first()) things.push('code')
  const { objects } = await bucket.list({ prefix: `images/${memberId}/`, limit: 1 })
  if (objects.length > 0) things.push('image')
  const named = await home.database
    .prepare('select file from statisticsFiles where memberId = ?')
    .bind(memberId)
    .first<string>('file')
  if (named && !(await bucket.head(`statistics/${memberId}/${named}`))) things.push('lost statistics')
  return [...new Set(things)].sort()
}
