import type { D1Database, R2Bucket, R2Objects } from '@cloudflare/workers-types'

// What the database keeps beside its rows, counted anew from the rows themselves. Each statement finds what disagrees.

export type Disagreement = {
  what: string
  id: number | string
  field: string
  expected: unknown
  found: unknown
}

const recount = (table: string, id: string, field: string, expected: string) => `
  select '${table}' as what, ${id} as id, '${field}' as field, expected, found
  from (select ${id}, ${field} as found, (${expected}) as expected from ${table} as kept)
  where expected is not found`

const ofMember = (field: string, where: string) =>
  recount('members', 'memberId', field, `select count(*) from books where books.memberId = kept.memberId and ${where}`)

const ofBook = (field: string, where = 'true') =>
  recount('books', 'bookId', field, `select count(*) from memos where memos.bookId = kept.bookId and ${where}`)

// Identifiers are never given twice: so no row has one that is retired, nor a member one that is beyond the sequence.
const givenTwice = (table: string, id: string) => `
  select '${table}' as what, ${id} as id, '${id}' as field, 'above ' || retiredIds.id as expected, ${id} as found
  from ${table} join retiredIds on tableName = '${table}' and retiredIds.id = ${id}`

export const RECOUNTS = [
  ofMember('yetBooks', `bookStatus = 'YET'`),
  ofMember('ingBooks', `bookStatus = 'ING'`),
  ofMember('doneBooks', `bookStatus = 'DONE'`),
  ofMember('finishedBooks', `bookStatus = 'DONE' and readEndDate is not null`),
  ofMember('memoBooks', 'exists (select 1 from memos where memos.bookId = books.bookId)'),
  ofBook('memoCount'),
  ofBook('contentMemos', `memoType = 'BOOK_CONTENT'`),
  ofBook('summaryMemos', `memoType = 'SUMMARY'`),
  ofBook('thoughtMemos', `memoType = 'THOUGHT'`),
  ofBook('questionMemos', `memoType = 'QUESTION'`),
  recount('books', 'bookId', 'hasMemos', 'exists (select 1 from memos where memos.bookId = kept.bookId)'),
  recount('books', 'bookId', 'memberId', 'select memberId from members where members.memberId = kept.memberId'),
  recount('memos', 'memoId', 'memberId', 'select memberId from books where books.bookId = kept.bookId'),
  `select 'memos' as what, memoId as id, 'position' as field, expected, found
  from (
    select memoId, position as found, row_number() over (partition by memberId order by position) as expected from memos
  )
  where expected <> found`,
  givenTwice('books', 'bookId'),
  givenTwice('memos', 'memoId'),
  `select 'members' as what, memberId as id, 'memberId' as field, 'at most ' || seq as expected, memberId as found
  from members join sqlite_sequence on sqlite_sequence.name = 'members' and memberId > seq`,
]

/** Every counter, position, owner and identifier that disagrees with the rows: none, when all is well. */
export const findDisagreements = async (database: D1Database) => {
  const answers = await database.batch<Disagreement>(RECOUNTS.map((query) => database.prepare(query)))
  return answers.flatMap(({ results }) => results)
}

/** Every object whose member is neither there nor about to be purged. */
export const findOrphans = async (database: D1Database, bucket: R2Bucket) => {
  const orphans: string[] = []
  const strangers = database.prepare(`
    select value from json_each(?)
    where value not in (select memberId from members) and value not in (select memberId from purgeJobs)`)
  for (let cursor: string | undefined, more = true; more; ) {
    const page: R2Objects = await bucket.list(cursor === undefined ? {} : { cursor })
    const owners = page.objects.map(({ key }) => Number(/^images\/(\d+)\//.exec(key)?.[1]))
    const { results } = await strangers.bind(JSON.stringify([...new Set(owners)])).all<{ value: number | null }>()
    const unknown = new Set(results.map(({ value }) => value))
    // A key of another form has no owner at all.
    orphans.push(
      ...page.objects.filter((_, at) => !(owners[at] ?? 0) || unknown.has(owners[at] ?? 0)).map(({ key }) => key),
    )
    more = page.truncated
    cursor = page.truncated ? page.cursor : undefined
  }
  return orphans
}
