// All that was ever created, recorded by triggers. Whatever is gone at the end needs a reason that the history knows.

/** Why something is neither in the library nor in the trash. An edit replaces the text of a memo. */
const REASONS = {
  emptied: 'objects deleted from the trash for good',
  evicted: 'objects that a full quota evicted from the trash',
  undone: 'imported objects removed by an undo',
} as const

/** What histories must come to. */
export const KINDS_OF_RETURNS = [
  'books merged',
  'merges taken back',
  'books and memos restored from the trash',
  'restores from the trash refused',
  'imports undone',
  ...Object.values(REASONS),
] as const
type Report = { problems: string[]; reached: Record<(typeof KINDS_OF_RETURNS)[number], number> }

const PARTS = (kind: 'memos' | 'readings', book = '') =>
  `from trashParts, json_each(trashParts.data) as each where trashParts.memberId = ledger.memberId ${book} and trashParts.kind = '${kind}'`
const hasMember = 'exists (select 1 from members where memberId = OLD.memberId and withdrawnAt is null)'
const inTrash = 'exists (select 1 from trash where trashId = OLD.bookId)'
const add = (kind: string, id: string, text = 'null') =>
  `insert into ledger (memberId, kind, id, text) values (NEW.memberId, '${kind}', ${id}, ${text}) on conflict do nothing;`
/** What belongs to a book that is deleted, and is not in the trash with it. */
const addLost = (kind: string, from: string, id: string, list: string) =>
  `insert into ledger (memberId, kind, id) select OLD.memberId, '${kind} of book ' || OLD.bookId, ${id} from ${from}
    where memberId = OLD.memberId and bookId = OLD.bookId and ${inTrash} and ${id} not in (select ${list})
    on conflict do nothing;`
const note = (table: string) =>
  `AFTER INSERT ON ${table} WHEN NEW.note is not null BEGIN ${add('note', 'NEW.note')} END`

/** `id`: of a note, its text. `at`: when it had been deleted. */
export const LEDGER = [
  `create table ledger (
    memberId integer not null references members (memberId) on delete cascade, kind text not null, id not null, text text,
    gone text, at integer, primary key (memberId, kind, id)
  ) without rowid`,
  ...Object.entries({
    books: `AFTER INSERT ON books BEGIN ${add('book', 'NEW.bookId')} END`,
    memos: `AFTER INSERT ON memos BEGIN ${add('memo', 'NEW.memoId', 'NEW.memoContent')} END`,
    edits: `AFTER UPDATE OF memoContent ON memos BEGIN
      update ledger set text = NEW.memoContent where memberId = NEW.memberId and kind = 'memo' and id = NEW.memoId; END`,
    readings: note('readings'),
    current: note('books'),
    notes: note('books').replace('INSERT', 'UPDATE OF note'),
    // Unread, a book has no current reading.
    unread: `AFTER UPDATE OF bookStatus ON books WHEN NEW.bookStatus = 'YET' AND OLD.note is not null BEGIN
      update ledger set gone = 'unread' where memberId = OLD.memberId and kind = 'note' and id = OLD.note; END`,
    books_deleted: `BEFORE DELETE ON books WHEN ${hasMember} BEGIN
      update ledger set gone = 'undone' where memberId = OLD.memberId and kind = 'book' and id = OLD.bookId and not ${inTrash}
        and exists (select 1 from importRows where memberId = OLD.memberId and bookId = OLD.bookId);
      ${addLost('tag', 'bookTags join tags using (memberId, tagId)', 'tag', `value ->> 1 from trash, json_each(data, '$.tags') where trashId = OLD.bookId`)}
      ${addLost('progress', 'progress', `at || ' ' || page`, `(value ->> 0) || ' ' || (value ->> 1) from trash, json_each(data, '$.progress') where trashId = OLD.bookId`)}
      ${addLost('reading', 'readings', 'readingId', `value ->> 'readingId' from trashParts as part, json_each(part.data) where part.memberId = OLD.memberId and part.bookId = OLD.bookId and part.kind = 'readings'`)}
      END`,
    memos_deleted: `AFTER DELETE ON memos WHEN OLD.importId is not null AND OLD.version = OLD.importVersion BEGIN
      update ledger set gone = 'undone' where memberId = OLD.memberId and kind = 'memo' and id = OLD.memoId
        and not exists (select 1 from trash where trashId in (OLD.bookId, -OLD.memoId)); END`,
    trash: `BEFORE DELETE ON trash WHEN not exists (select 1 from books where bookId = OLD.trashId)
        AND not exists (select 1 from memos where memoId = -OLD.trashId) BEGIN
      update ledger set at = OLD.deletedAt, gone = (
        select iif(textBytes > coalesce(maxTextBytes, 67108864), 'evicted', 'emptied') from members where memberId = OLD.memberId
      )
      where memberId = OLD.memberId and gone is null and case kind
        when 'book' then id = OLD.trashId
        when 'memo' then id = -OLD.trashId or id in (select value ->> 'memoId' ${PARTS('memos', 'and trashParts.bookId = OLD.trashId')})
        when 'note' then id is OLD.data ->> 'note' or id in (select value ->> 'note' ${PARTS('readings', 'and trashParts.bookId = OLD.trashId')})
      end; END`,
  }).map(([name, trigger]) => `create trigger ledger_${name} ${trigger}`),
]

/** How many days the trash keeps something. */
const KEPT_DAYS = 30
const SELECT_GONE = `select kind, id, gone from ledger where memberId = ?1 and (
  (gone is null and not case kind
    when 'book' then exists (select 1 from books where bookId = id) or exists (
      select 1 from trash where trashId = id and deletedAt > ?2)
    when 'memo' then exists (select 1 from memos where memoId = id and memoContent = text)
      or exists (select 1 from trash where trashId = -id and deletedAt > ?2 and data ->> 'memoContent' = text)
      or exists (select 1 ${PARTS('memos')} and value ->> 'memoId' = ledger.id and value ->> 'memoContent' = text)
    when 'note' then exists (select 1 from allReadings where memberId = ?1 and note = id)
      or exists (select 1 from trash where memberId = ?1 and data ->> 'note' = id)
      or exists (select 1 ${PARTS('readings')} and value ->> 'note' = ledger.id)
    else false end)
  or (gone = 'evicted' and at > (select min(deletedAt) from trash where memberId = ?1))
)`

/** Follows what is deleted for good, and by which requests. */
export const openLedger = (database: D1Database, memberId: number, { problems, reached }: Report) => {
  const query = (text: string, ...values: unknown[]) => database.prepare(text).bind(memberId, ...values)
  const requested = new Set<string>(['evicted', 'unread', 'deleted'])
  const merged = new Set<number>()
  return {
    /** Call it before a request, and what it returns with its status. */
    watch: async (method: string, path: string, body: unknown) => {
      const [, folder, id = '', action] = path.split('/')
      const isDeletion = method === 'DELETE'
      if (isDeletion && folder === 'trash') requested.add('emptied')
      if (isDeletion && folder === 'imports') requested.add('undone')
      if (isDeletion && folder === 'readings')
        await query(
          `update ledger set gone = 'deleted' where memberId = ?1 and kind = 'note' and id = (
            select note from allReadings where memberId = ?1 and readingId = ?2)`,
          Number(id),
        ).run()
      return (status: number) => {
        if (isDeletion && folder === 'imports' && status === 200) reached['imports undone'] += 1
        if (action === 'merge' && status === 200) {
          merged.add(JSON.parse(String(body)).from)
          reached['books merged'] += 1
        }
        if (action !== 'restore') return
        const isMerge = merged.delete(Number(id.replace('book-', '')))
        if (status >= 400) reached['restores from the trash refused'] += 1
        else if (isMerge) reached['merges taken back'] += 1
        else reached['books and memos restored from the trash'] += 1
      }
    },
    /** At the end: reports what is gone without a reason. */
    check: async () => {
      const { results } = await query(SELECT_GONE, Date.now() - KEPT_DAYS * 86_400_000).all()
      for (const { kind, id, gone } of results) {
        if (!gone) problems.push(`${kind} ${id} is gone without a line`)
        // Above the quota, what a request deletes for good looks evicted, too.
        else if (!requested.has('emptied')) problems.push(`${kind} ${id} was evicted before an older one`)
      }
      const counts = await query('select gone, count(*) as count from ledger where memberId = ?1 group by gone').all()
      for (const { gone, count } of counts.results as { gone: string; count: number }[]) {
        if (gone && !requested.has(gone)) problems.push(`${count} objects were ${gone}, which no request has asked for`)
        if (gone in REASONS) reached[REASONS[gone as keyof typeof REASONS]] += count
      }
    },
  }
}
