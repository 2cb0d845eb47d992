// Two libraries as SQL: the same rows for D1 and for the peers' SQLite.
import { createHash, createHmac } from 'node:crypto'
import { createAccessToken, createLinkSecret } from '../../../src/auth/access-token.ts'
import { LINK_KINDS, type LinkKind, toBits } from '../../../src/values/contract.ts'
import { type LinkShape, toVariant } from '../../../src/values/link.ts'

export const JWT_SECRET = 'a secret of the benchmarks only, which no deployment has'

/** A member's library, and the ids that requests use. */
export type Library = {
  memberId: number
  books: number
  token: string
  /** A book with ten memos. */
  book: number
  /** The book with the most memos. */
  memoBook: number
  /** A book without memos and a memo, for updates. */
  changedBook: number
  changedMemo: number
  /** A book with a hundred events of progress. */
  progressBook: number
  /** A book that is being read. */
  readBook: number
  /** A book to merge another one with ten memos into. */
  mergedBook: number
  /** Unread books without memos, and memos, to be deleted. */
  spareBooks: number[]
  spareMemos: number[]
  /** A session to be ended by that of `token`, and the token of one to be logged out. */
  otherSession: string
  otherToken: string
  /** The secrets of links, by what they show. */
  links: Record<LinkName, string>
  linkId: string
  /** The token of a device, which has sent HIGHLIGHTS, and a document of it. */
  device: string
  document: string
}
/** A request to Readwise's API. */
export const HIGHLIGHTS = JSON.stringify({ highlights: [{ title: 'Book 1', author: 'Author 1', text: 'Highlight' }] })

type LinkName = LinkKind | 'DONE' | 'TAG'
const LINK_NAMES: LinkName[] = [...LINK_KINDS, 'DONE', 'TAG']
const SHOWN_YEAR = 2018
const linkOf = (name: LinkName): LinkShape => {
  if (name === 'YEAR') return { kind: name, year: SHOWN_YEAR }
  if (name === 'MEMOS' || name === 'CALENDAR') return { kind: name }
  return { kind: 'SHELF', bookStatus: name === 'DONE' ? name : null, hasTag: name === 'TAG' }
}
const linkIdOf = (name: LinkName) => `3f1c3f5e-8d6c-4f6e-9d0b-0c6a3c1f2c0${LINK_NAMES.indexOf(name)}`
const secrets = new Map<string, string>()
/** Memoized, as secrets are random. */
const secretOf = (memberId: number, slot: number, name: LinkName) => {
  const key = `${memberId} ${name}`
  const link = linkOf(name)
  const secret = secrets.get(key) ?? createLinkSecret({ slot, kind: link.kind, variant: toVariant(link) })
  secrets.set(key, secret)
  return secret
}

export const DEVICE_ID = '3f1c3f5e-8d6c-4f6e-9d0b-0c6a3c1f2d00'
const deviceTokens = new Map<number, string>()
const deviceOf = (memberId: number, slot: number) => {
  const token = deviceTokens.get(memberId) ?? createAccessToken(slot, true)
  deviceTokens.set(memberId, token)
  return token
}
/** Documents of each member. */
const DOCUMENTS = 100

/** Of the first book, in milliseconds since 1970. The others follow, a second apart. */
export const FIRST_ACTIVITY = 1577836800000
const TAGS = 5
/** Books of a series, after those that are merged. */
const SERIES = { first: 12, last: 91 }
/** In 2018, both libraries have as many memos and events, and finishes of some books that no other endpoint changes. */
const YEAR_MEMOS = 40
const YEAR_EVENTS = 100
const isOfYear = (offset: number) =>
  `bookStatus = 'YET' and bookId between ${offset + 5} and ${offset + 38} and bookId not in (${offset + 11}, ${offset + 21})`
/** Each member has ten sessions. */
const SESSIONS = 10
const SESSION_PREFIX = '3f1c3f5e-8d6c-4f6e-9d0b-0c6a3c1f2b'
const sessionId = (n: number) => `${SESSION_PREFIX}${n + 10}`

const base64url = (text: string) => Buffer.from(text).toString('base64url')

const signToken = (memberId: number, slot: number, sid: string) => {
  const iat = Math.floor(Date.now() / 1000)
  const claims = {
    iss: 'reading-library',
    sub: String(memberId),
    iat,
    exp: iat + 2_592_000,
    sid,
    ...(slot > 0 && { slot }),
  }
  const signed = `${base64url('{"alg":"HS256","typ":"JWT"}')}.${base64url(JSON.stringify(claims))}`
  return `${signed}.${createHmac('sha256', JWT_SECRET).update(signed).digest('base64url')}`
}

/** The large library and the directory then have a tenth of their rows. */
const isQuick = process.argv.includes('--quick')

/** `offset`: ids start above it. One book has `most` memos, `withMemos` books have ten: 100,000 in the large library. */
type Size = { memberId: number; slot?: number; offset: number; books: number; most: number; withMemos: number }

const SMALL: Size = { memberId: 1, offset: 0, books: 100, most: 50, withMemos: 9 }
const LARGE: Size = isQuick
  ? { memberId: 2, offset: 1000, books: 10_000, most: 200, withMemos: 980 }
  : { memberId: 2, offset: 1000, books: 100_000, most: 1400, withMemos: 9860 }
/** With the most of everything that the limits allow. */
export const FULL: Size = { memberId: 1000, offset: 200_000, books: 20_000, most: 3000, withMemos: 0 }

const range = (from: number, to: number, step: number) =>
  Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, n) => from + n * step)

const toLibrary = ({ memberId, slot = 0, offset, books, most, withMemos }: Size): Library => ({
  memberId,
  books,
  token: signToken(memberId, slot, sessionId(0)),
  otherSession: sessionId(1),
  otherToken: signToken(memberId, slot, sessionId(2)),
  book: offset + 2,
  memoBook: offset + 1,
  changedBook: offset + 20 * Math.ceil(withMemos / 20) + 1,
  changedMemo: offset + most + 12,
  progressBook: offset + 3,
  readBook: offset + 4,
  mergedBook: offset + 11,
  linkId: linkIdOf('SHELF'),
  device: deviceOf(memberId, slot),
  document: 'document 50',
  links: Object.fromEntries(LINK_NAMES.map((name) => [name, secretOf(memberId, slot, name)])) as Library['links'],
  spareBooks: range(offset + 3 * Math.ceil((withMemos + 30) / 3), offset + books, 3),
  spareMemos: range(offset + most + 21, offset + most + withMemos * 10, 1),
})

export const makeLibraries = () => ({ small: toLibrary(SMALL), large: toLibrary(LARGE), full: toLibrary(FULL) })

/** Already used today, so that no request writes the day of use. */
const TODAY = Math.floor(Date.now() / 86_400_000)
const fillLinks = ({ memberId, slot = 0 }: Size) =>
  LINK_NAMES.map((name) => {
    const link = linkOf(name)
    const [bookStatus, tagId] = link.kind === 'SHELF' ? [link.bookStatus, link.hasTag ? 1 : null] : [null, null]
    const hash = createHash('sha256')
      .update(secretOf(memberId, slot, name))
      .digest('base64')
    const values = [
      `'${hash}', ${memberId}, '${linkIdOf(name)}', 'Shown', ${toBits(['show'])}, '', 0, ${TODAY}, '${link.kind}'`,
    ]
    values.push(bookStatus ? `'${bookStatus}'` : 'null', String(tagId), String(link.kind === 'YEAR' ? link.year : null))
    return `insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt, lastUsedDay, kind, bookStatus, tagId, year)
      values (${values.join(', ')})`
  })

const hashOf = (algorithm: 'md5' | 'sha256', text: string) => createHash(algorithm).update(text)
const fillDevice = ({ memberId, slot = 0, offset }: Size) => {
  const md5 = hashOf('md5', deviceOf(memberId, slot)).digest('hex')
  const hash = hashOf('sha256', `device ${md5}`).digest('base64')
  const scopes = toBits(['intake:read', 'intake:write'])
  return [
    `insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt, lastUsedDay)
      values ('${hash}', ${memberId}, '${DEVICE_ID}', 'Device', ${scopes}, '', 0, ${TODAY})`,
    `insert into imports (memberId, importId, status, isDryRun, merge, format, encoding, tokenId, fileHash, options, total, done, unchanged)
      values (${memberId}, ${FIRST_ACTIVITY}, 'DONE', 0, 'fill', 'readwise-api', 'utf-8', '${DEVICE_ID}',
        '${hashOf('sha256', HIGHLIGHTS).digest('base64')}', '{}', 1, 1, 1)`,
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${DOCUMENTS})
      insert into documents (memberId, document, createdAt, title, authors, bookId)
      select ${memberId}, 'document ' || i, i, 'Book ' || i, 'Author', ${offset} + 4 from n`,
    `insert into positions (memberId, document, tokenId, at, percentage, progress, device, deviceId)
      select memberId, document, 'other', createdAt, 0.5, '12', 'Kobo', '1' from documents where memberId = ${memberId}`,
    // Two books on each day of a year.
    `insert into documents (memberId, document, createdAt, bookId, seconds)
      select ${memberId}, 'read ' || value, 0, ${offset} + value, 365 * 600 from json_each('[5, 6]')`,
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < 364)
      insert into sittings (memberId, tokenId, at, document, day, seconds)
      select ${memberId}, 'other', i, 'read ' || value, date('2017-01-01', i || ' days'), 600 from json_each('[5, 6]'), n`,
  ]
}

const fill = (size: Size) => [...fillLibrary(size), ...fillLinks(size), ...fillDevice(size)]

export const fillLibrary = ({ memberId, offset, books, most, withMemos }: Size) => [
  `insert into members (memberId, email, name, passwordHash, createdAt, updatedAt)
    values (${memberId}, 'reader${memberId}@example.com', 'Reader ${memberId}', '-', '2020-01-01T00:00:00', '2020-01-01T00:00:00')`,
  // The large library is beyond the quotas of the service.
  `update members set maxBooks = 1000000, maxTextBytes = 1 << 30 where memberId = ${memberId}`,
  `insert into sessions (memberId, sessionId, createdAt, renewedAt, expiresAt)
    with recursive n(i) as (select 0 union all select i + 1 from n where i < ${SESSIONS - 1})
    select ${memberId}, '${SESSION_PREFIX}' || (i + 10), now, now, now + 2592000000
    from n, (select unixepoch() * 1000 as now)`,
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${books})
    insert into books (bookId, memberId, title, cover, author, publisher, createdAt, itemPage, bookStatus, readStartDate, readEndDate, star, isbn, activityAt)
    select ${offset} + i, ${memberId}, 'Book ' || i, 'https://covers.example.com/' || i || '.jpg', 'Author ' || (i % 97),
      'Publisher ' || (i % 13), '2020-01-01T00:00:00', 300, case i % 3 when 0 then 'YET' when 1 then 'ING' else 'DONE' end,
      case when i % 3 > 0 then '2020-02-01T00:00:00' end,
      case i % 3 when 2 then strftime('%Y-%m-%dT%H:%M:%S', 1577836800 + i * 3600, 'unixepoch') end, i % 6,
      iif(i <= 3, '9788936434120', iif(i % 2, null, printf(iif(i = 4, '978%010d', '979%010d'), i))),
      ${FIRST_ACTIVITY} + i * 1000
    from n`,
  `update books set series = 'Series', seriesNumber = bookId - ${offset}, format = 'PAPER'
    where memberId = ${memberId} and bookId between ${offset + SERIES.first} and ${offset + SERIES.last}`,
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${most + 10 * withMemos})
    insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
    select ${offset} + i, ${offset} + case when i <= ${most} then 1 else 2 + (i - ${most} - 1) / 10 end, ${memberId}, i,
      case i % 4 when 0 then 'BOOK_CONTENT' when 1 then 'SUMMARY' when 2 then 'THOUGHT' else 'QUESTION' end,
      'Memo ' || i || ': something worth remembering on this page, in a sentence or two.', i % 300,
      case i % 2 when 0 then 'PRIVATE' else 'PUBLIC' end, iif(i <= ${YEAR_MEMOS}, '2018-05-01T00:00:00', '2020-01-01T00:00:00'), '2020-01-01T00:00:00'
    from n`,
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
    insert into progress (memberId, bookId, at, page, kind, total)
    select ${memberId}, ${offset} + 3, 1600000000000 + i * 1000, i - 1, 'PROGRESS', i from n`,
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${YEAR_EVENTS})
    insert into progress (memberId, bookId, at, page, kind, total)
    select ${memberId}, ${offset} + 5, 1520000000000 + i * 86400000, i, 'PROGRESS', i from n`,
  `insert into readings (readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters)
    select (1 << 39) + bookId, memberId, bookId, 0, '2018-01-01', '2018-02-03', 'FINISHED', 16 from books
    where memberId = ${memberId} and ${isOfYear(offset)}`,
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${TAGS})
    insert into tags (memberId, tagId, tag, tagKey) select ${memberId}, i, 'Tag ' || i, 'tag ' || i from n`,
  `insert into bookTags (memberId, tagId, bookId)
    select memberId, 1 + (bookId % ${TAGS}), bookId from books where memberId = ${memberId}`,
]

/** The number of rows that `fillStatements` creates. */
export const FILLED = {
  books: SMALL.books + LARGE.books,
  memos: SMALL.most + 10 * SMALL.withMemos + LARGE.most + 10 * LARGE.withMemos,
}
export const fillStatements = () => [...fill(SMALL), ...fill(LARGE)]

/** Enough entries in the directory for a stable average size. */
export const ENTRIES = isQuick ? 20_000 : 200_000
export const fillDirectory = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ENTRIES})
  insert into addresses (addressHash, memberId, slot, claimId, state)
  select randomblob(16), (1 << 40) + i, 1, (1 << 40) + i, 'HELD' from n`

/** A small library in a slot. */
const sizeInSlot = (slot: number): Size => {
  const floor = slot * 2 ** 40
  return { ...SMALL, slot, memberId: floor + 1, offset: floor }
}
export const fillSlot = (slot: number) => fill(sizeInSlot(slot))
export const librariesOfSlots = (slots: number) =>
  Array.from({ length: slots }, (_, slot) => toLibrary(sizeInSlot(slot)))
