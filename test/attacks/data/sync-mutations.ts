// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are code
// The rules of sync, each broken in the real code: npm run mutate -- --list test/attacks/data/sync-mutations.ts
import { readFileSync } from 'node:fs'
import { parseTriggers } from '../../../scripts/data/triggers.ts'

type Edit = [file: string, from: string, to: string]
export type Mutation = { rule: string; edits: Edit[] }

export const command = 'attack -- sync'
export const environment = { HISTORIES: '1000' }

const CLIENT = 'docs/offline-client.ts'
const SHAPE = 'docs/offline-shape.ts'
const FEED = 'src/transfer/changes/store.ts'
const MEMOS = 'src/library/memos/store.ts'
const TAGS = 'src/library/tags/store.ts'
const LOG = 'src/db/change-log.ts'
/** A migration that does not exist otherwise. */
export const migrate = (sql: string): Edit => ['migrations/9999_mutation.sql', '', sql]

const triggers = parseTriggers(readFileSync('src/db/triggers.sql', 'utf8'))
export const replaceTrigger = (name: string, from: RegExp, to: string) =>
  migrate(`DROP TRIGGER ${name};--> statement-breakpoint\n${triggers.get(name)?.replaceAll(from, to)}`)

/** Without them, changes of that kind are not in the log. */
const TRIGGERS = `books_insert books_update books_delete bookTags_insert bookTags_delete progress_insert
  progress_update progress_delete memos_insert memos_update memos_delete tags_insert tags_update tags_delete readings_insert
  readings_update readings_delete`.split(/\s+/)

export const one = (rule: string, ...edit: Edit): Mutation => ({ rule, edits: [edit] })

export const mutations: Mutation[] = [
  ...TRIGGERS.map((name) => ({ rule: `${name}_logged`, edits: [migrate(`DROP TRIGGER ${name}_logged`)] })),
  { rule: 'readings that leave their book are listed', edits: [migrate('DROP TRIGGER books_reading_left')] },
  {
    rule: 'changed readings of books are listed',
    edits: [replaceTrigger('books_reading_changed', /AND changes.seq > 0/g, 'AND changes.seq < 0')],
  },
  {
    rule: 'entries are numbered one by one, not by time',
    edits: [replaceTrigger('memos_update_logged', /seq \+ 1/g, 'max(seq + 1, unixepoch())')],
  },
  one(
    'the log begins with the first page',
    FEED,
    `  const { log, rows } = await runAsCaller(atPrimary(db), caller, {
    begun: idempotent(beginLog()),
    log: firstRow(selectLog(values)),
    rows: selectSnapshot(values),
  })`,
    `  const { rows } = await runAsCaller(atPrimary(db), caller, { rows: selectSnapshot(values) })
  const begin = { begun: idempotent(beginLog()), log: firstRow(selectLog(values)) }
  const { log } = await runAsCaller(atPrimary(db), caller, begin)`,
  ),
  one(
    'the delta begins where the first page did',
    FEED,
    '? { c, ...visible, s: isFull',
    '? { c: isFull ? c : seq, ...visible, s: isFull',
  ),
  one('tombstones are listed', FEED, 'sent.map(toChange)', 'sent.map(toChange).filter(({ value }) => value !== null)'),
  one('a cursor proves itself', FEED, 'known === Number(cursor.p)', 'true'),
  {
    rule: 'a cursor proves the newest entry that its page could show',
    edits: [
      [
        FEED,
        'max(seq) as key1, 0 as key2, 0 as key3 from (\n    select memberId, kind, id, seq from',
        'max(seq) as key1, proof as key2, 0 as key3 from (\n    select memberId, kind, id, seq, proof from',
      ],
      [FEED, '{ c, s }: ChangesPosition', '{ c, t, p, s }: ChangesPosition'],
      [FEED, '? { c, ...visible, s: isFull', '? { c, ...(t > 0 ? { t, p } : visible), s: isFull'],
      [
        FEED,
        ': { c: last?.key1 ?? c, ...visible }',
        ': last ? { c: last.key1, t: last.key1, p: toProof(last.key2) } : { c, t, p }',
      ],
    ],
  },
  {
    rule: 'what a merge moves is in the log',
    edits: [replaceTrigger('memos_update_logged', /(NEW|OLD)\.bookId, |bookId, (?=memoType)/g, '')],
  },
  one(
    'a merge is in the log',
    'src/library/books/merge.ts',
    'from pair cross join changes on memberId = ownerId order by seq desc limit 1',
    'from pair cross join changes on memberId = ownerId order by seq desc limit 0',
  ),
  one(
    'a replica proves the first sync, too',
    FEED,
    'if (newest && isProven)',
    'if (newest && (isProven || (db.isReplica && cursor.s)))',
  ),
  one('a trimmed log is noticed', FEED, ' && oldest !== null && oldest <= cursor.c + 1', ''),
  one('a key is sent', CLIENT, "...(isCreation(write) && { 'Idempotency-Key': key }),", ''),
  one(
    'a key is stored with its row',
    MEMOS,
    `  const batch = { guard: selectMemoRoom({ bookId }), ...insertMemo(values, key, config) }
  const { guard: book, created, used } = await runAsCaller(db, caller, batch)`,
    `  const { stored: storeKey, used: selectUsed, ...insert } = insertMemo(values, key, config)
  const { guard: book, created } = await runAsCaller(db, caller, { guard: selectMemoRoom({ bookId }), ...insert })
  const { used } = key ? await runAsCaller(db, caller, { stored: created && storeKey, used: selectUsed }) : {}`,
  ),
  {
    rule: 'a key outlives its row',
    edits: [
      migrate(`CREATE TRIGGER mutation AFTER DELETE ON memos BEGIN
        DELETE FROM idempotencyKeys WHERE memberId = OLD.memberId AND id = OLD.memoId; END`),
    ],
  },
  one('an old POST is not repeated', CLIENT, '300 * 86_400_000', '3000 * 86_400_000'),
  one('an edit is sent with a version', CLIENT, "&& { 'If-Match'", "&& { 'If-None-Match'"),
  one('If-Match is evaluated', MEMOS, 'version in (select value from json_each(:versions))', ':versions is not null'),
  {
    rule: 'versions are random',
    edits: [
      ['src/library/memos/versions.ts', 'Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) + 1', '1'],
      [MEMOS, '[...expected, version]', 'expected'],
      [MEMOS, 'updatedAt: localTime(config.TIME_ZONE), version }', 'updatedAt: localTime(config.TIME_ZONE) }'],
      [
        MEMOS,
        'update memos set ${assignments(changes)}',
        'update memos set ${assignments(changes)}, version = version + 1',
      ],
    ],
  },
  one('identifiers are skipped after a restore', 'scripts/slots/skip-ids.ts', 'SKIPPED = 1_000_000', 'SKIPPED = 0'),
  one(
    'memos of a deleted book are deleted',
    CLIENT,
    "if (change.value || change.kind !== 'book') continue",
    'continue',
  ),
  one(
    'a page and its cursor are stored at once',
    CLIENT,
    '    const outbox = hasMore',
    "    await store.write([['cursor', next]])\n    const outbox = hasMore",
  ),
  one(
    'a pulled value is stored under unsent edits',
    CLIENT,
    'for (const change of item) {',
    `const unsent = (await writesIn('outbox')).filter(({ done }) => !done).map(({ kind, id }) => kind + id)
    for (const change of item.filter(({ kind, id }) => !unsent.includes(kind + id))) {`,
  ),
  one(
    'an edit is sent with the version that the user saw',
    CLIENT,
    '`"${base}"`',
    '`"${((await store.get(`copy/memo/${write.id}`)) as Shown | undefined)?.version ?? base}"`',
  ),
  one('an edit behind a replayed POST is a conflict', CLIENT, "isOther && kind === 'memo' ? key : version", 'version'),
  one(
    'a replayed POST shows the present row',
    CLIENT,
    "method === 'DELETE' ? undefined : row",
    "method === 'DELETE' ? undefined : { ...row, ...write.body }",
  ),
  one(
    'answers are not stored in the copy',
    CLIENT,
    '      [`answer/${key}`, { id, version: known }],',
    `      [\`answer/\${key}\`, { id, version: known }],
      ...(part || method === 'DELETE' ? [] : [[\`copy/\${kind}/\${id}\`, lay(undefined, { ...write, id, done })] as [string, unknown]]),`,
  ),
  one(
    'an answered write stays in the outbox until a pull has ended',
    CLIENT,
    "[inOrder('outbox', seq), { ...write, id, done }]",
    "[inOrder('outbox', seq), undefined]",
  ),
  one('410 of a creation means done', CLIENT, 'if (status === 410 && isCreation(write))', 'if (status === 410.5)'),
  one('404 of a deletion means done', CLIENT, "(status === 404 && method === 'DELETE')", 'status === 404.5'),
  one(
    '412 with the same values means done',
    CLIENT,
    "(status === 412 && method === 'PATCH' && isSame)",
    'status === 412.5',
  ),
  one('a refused write is kept', CLIENT, "[inOrder('kept', each.seq), each]", "[inOrder('gone', each.seq), each]"),
  one(
    'a conflict is not repeated',
    CLIENT,
    '    if (!isDone) return store',
    '    if (status === 412 && !isDone) return\n    if (!isDone) return store',
  ),
  one('a deletion of a book is conditional', CLIENT, "...(since && { 'If-Unchanged-Since': since }),", ''),
  one('the condition is evaluated', LOG, 'else not exists (select 1', 'else 1 or not exists (select 1'),
  one('the condition sees memos', LOG, 'when 2 then id in', 'when 2 then id not in'),
  one('the condition needs a proof', LOG, 'and proof = :proof', 'and :proof = :proof'),
  one(
    'a deletion is kept if a pull brings what the user has not seen',
    CLIENT,
    '      return body ? {',
    '      return body && false ? {',
  ),
  one('what an answer to a repeated creation shows was not seen', SHAPE, 'done && !done.isOther', 'done'),
  one('what an answer shows beside what was sent was not seen', SHAPE, 'name in body && isSame(name', 'isSame(name'),
  one(
    'a tag whose name comes later is unknown',
    CLIENT,
    '...pulled.flatMap(tagIdsOf).map((id) => [id, `\\0${id}`] as const), ...named',
    '...named',
  ),
  one('dropped writes are kept with the deletion', CLIENT, '[write, ...dropped].map', '[write].map'),
  one('PATCH of tags leaves other tags', TAGS, 'and (:removed is null or ${isNamed})', 'and 1'),
  one('tags are sent one by one', SHAPE, 'return tags.filter((tag) => !folded.has(fold(tag)))', 'return tags'),
  one(
    'the memos of a deleted book are in the trash',
    'src/library/trash/removal.ts',
    'cross join memos as m on m.bookId = book.bookId`',
    'cross join memos as m on m.bookId = -book.bookId`',
  ),
  one(
    'a restored book has its memos',
    'src/library/trash/restore.ts',
    'insertReadings, insertProgress, insertMemos]',
    'insertReadings, insertProgress]',
  ),
  one(
    'the progress of a deleted book is in the trash',
    'src/library/trash/removal.ts',
    "order by at) from progress where ${ofBook('progress')}",
    "order by at) from progress where ${ofBook('progress')} and page < 50",
  ),
  one(
    '410 keeps the outbox',
    CLIENT,
    "(await store.list('copy/')).map",
    "[...(await store.list('copy/')), ...(await store.list('outbox/'))].map",
  ),
]
