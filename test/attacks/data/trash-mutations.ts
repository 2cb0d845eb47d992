// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are code
// The rules of the trash, each broken in the real code: npm run mutate -- --list test/attacks/data/trash-mutations.ts
import { type Mutation, migrate, one, replaceTrigger } from './sync-mutations.ts'

export const tests = [
  'test/features/books/merge.test.ts',
  'test/features/books/trash.test.ts',
  'test/features/sync/unchanged-since.test.ts',
  'test/features/accounts/links.test.ts',
]

const RESTORE = 'src/library/trash/restore.ts'
const UNMERGE = 'src/library/trash/unmerge.ts'
const OLDEST = 'src/library/trash/oldest.ts'
const withNewId = (names: string) => `${names}.map((name) => (name === 'memoId' ? 'other' : name))`

export const mutations: Mutation[] = [
  one(
    'a restored memo keeps its identifier',
    RESTORE,
    "valuesOf('trash.data', MEMO_NAMES)",
    `valuesOf('trash.data', ${withNewId('MEMO_NAMES')})`,
  ),
  one(
    'the memos of a restored book keep their identifiers',
    RESTORE,
    "valuesOf('each.value', MEMO_NAMES)",
    `valuesOf('each.value', ${withNewId('MEMO_NAMES')})`,
  ),
  one(
    'a restore of a book is all or nothing',
    RESTORE,
    'hasRoomForTags, hasRoomInLog }',
    'hasRoomForTags: sql`1`, hasRoomInLog }',
  ),
  one('a restore of a memo needs room', RESTORE, 'memoBytes + ${content} <= :MAX_BOOK_TEXT_BYTES', '1'),
  one('what was restored leaves the trash', RESTORE, 'forgetRetired, deleteBookEntry]', 'forgetRetired]'),
  one(
    'a merged book takes back only memos that are unchanged',
    UNMERGE,
    '(memos.memoId, memos.version) in (\n        select each.value ->> 0, each.value ->> 1 from',
    'memos.memoId in (\n        select each.value ->> 0 from',
  ),
  one('a merged book takes back only readings that are unchanged', UNMERGE, 'or ${isUnchanged}\n', 'or 1\n'),
  one(
    'a merged book takes back only fields that are unchanged',
    UNMERGE,
    "iif(${field} is merge -> 'after' ->> '${field}', ",
    'iif(1, ',
  ),
  one('a merged book leaves the progress that both had', UNMERGE, " and event.at not in ${idsOf('events')}", ''),
  one(
    'progress at the time of other progress is moved',
    'src/library/books/merge.ts',
    'event.at = progress.at and not (',
    'event.at = progress.at and 0 and not (',
  ),
  one(
    'the oldest are deleted first',
    OLDEST,
    '(order by deletedAt, trashId rows',
    '(order by deletedAt desc, trashId rows',
  ),
  one('no more are deleted than it takes', 'src/library/trash/removal.ts', 'sql`freed < excess`', 'sql`1`'),
  {
    rule: 'a key of something in the trash answers 410',
    edits: [
      migrate(`CREATE TRIGGER mutation AFTER INSERT ON trash BEGIN
        DELETE FROM idempotencyKeys WHERE memberId = NEW.memberId AND id = NEW.trashId; END`),
    ],
  },
  {
    rule: 'a tag without books lives while a link shows it',
    edits: [replaceTrigger('bookTags_counted_out', /AND NOT EXISTS [^;]*/g, '')],
  },
  {
    rule: 'a tag without books ends with its last link',
    edits: [migrate('DROP TRIGGER links_tag_deleted')],
  },
  one(
    'a conditional deletion reads 6,000 entries at most',
    'src/db/change-log.ts',
    'MAX_READ_CHANGES + 1)',
    'MAX_READ_CHANGES * 9)',
  ),
  one('a conditional deletion needs the next entry', 'src/db/change-log.ts', 'min(:seen + 1, :visible)', ':visible'),
]
