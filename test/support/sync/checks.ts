// What writes of devices to books may do: delete only what their user has seen, and change only the tags that they name.
import { isBookDeletion, type Shown, type Write } from '../../../docs/offline-shape'
import { fold } from '../../../src/values/text/fold'
import type { Value } from './comparable'
import { KINDS_OF_RETURNS } from './ledger'

/** What histories must come to, to show anything of deletions, tags, images and the trash. */
export const KINDS_OF_CASES = [
  'histories of tags, memos and deletions only',
  'books deleted that had not changed',
  'deletions of changed books refused',
  'books deleted behind own writes to them',
  'deletions kept for the user',
  'writes dropped with the deletion of their book',
  'tags changed beside those of another device',
  'images uploaded',
  ...KINDS_OF_RETURNS,
] as const
/** A text without the addresses and URLs of images. */
export const withoutImages = (text: unknown) =>
  typeof text === 'string' ? text.replaceAll(/offline-image:\S+|http\S+/g, 'image') : text
export const keysOf = (tags: string[]) => [...new Set(tags.map(fold))].toSorted().join()

type Stored = { author: string | null; memos: { id: number; text: string }[]; notes: string[]; tags: string[] }
/** Of a book, whether it exists or not. */
const SELECT_STORED = `select author,
    (select json_group_array(json_object('id', memoId, 'text', memoContent)) from memos where memos.bookId = ?1) as memos,
    (select json_group_array(note) from allReadings where allReadings.bookId = ?1 and note is not null) as notes,
    (select json_group_array(tag) from bookTags join tags using (memberId, tagId) where bookTags.bookId = ?1) as tags
  from (select 1) left join books on bookId = ?1`

/** The texts of a book that its user saw on a device: as shown, as written there, and those that were edited there. */
export const textsOf = (shown: Shown[], copied: Shown[], written: Write[]) => {
  const bases = new Set(written.map(({ base }) => base))
  const values = [
    ...shown.map(({ value }) => value),
    ...written.map(({ body = {} }) => body),
    // In books and readings, the last write wins, also over what it hides.
    ...copied.filter(({ kind, version }) => kind !== 'memo' || bases.has(version)).map(({ value }) => value),
  ]
  return new Set(values.flatMap(({ memoContent, note, author }) => [withoutImages(memoContent), note, author]))
}

type Report = { problems: string[]; reached: Record<(typeof KINDS_OF_CASES)[number], number> }

export const createChecks = (database: D1Database, { problems, reached }: Report) => {
  /** By the key of the deletion of a book. */
  const saw = new Map<string, { texts: Set<unknown>; tags: string; isBehind: boolean }>()
  /** By the key of a change of tags. */
  const sawTags = new Map<string, string>()
  const gone = new Set<number>()
  /** Names that tags have been given, which is no change of their books. */
  const renamed = new Set<string>()

  const read = async (bookId: unknown): Promise<Stored> => {
    const { author = null, ...lists } = (await database.prepare(SELECT_STORED).bind(bookId).first<Value>()) ?? {}
    const [memos, notes, tags] = [lists.memos, lists.notes, lists.tags].map((list) => JSON.parse(String(list)))
    return { author: author as string | null, memos, notes, tags }
  }
  const checkDeletion = ({ key, id }: Write, { author, memos, notes, tags }: Stored) => {
    const seen = saw.get(key)
    const texts = [...memos.map(({ text }) => withoutImages(text)), ...notes, ...(author === null ? [] : [author])]
    const unseen = [
      ...texts.filter((text) => !seen?.texts.has(text)),
      ...tags.filter((tag) => !renamed.has(fold(tag)) && !seen?.tags.split(',').includes(fold(tag))),
    ]
    if (unseen.length > 0) problems.push(`the deletion of book ${id} deleted "${unseen}", which its user had not seen`)
    for (const memo of memos) gone.add(memo.id)
    reached['books deleted that had not changed'] += 1
    if (seen?.isBehind) reached['books deleted behind own writes to them'] += 1
  }
  const checkTags = ({ key, id, body = {} }: Write, before: Stored, after: Stored) => {
    const [add = [], remove = []] = [body.add, body.remove] as string[][]
    const removed = new Set(remove.map(fold))
    const expected = keysOf([...before.tags.filter((tag) => !removed.has(fold(tag))), ...add])
    if (keysOf(after.tags) !== expected)
      problems.push(`the tags of book ${id} became ${after.tags} from ${before.tags} by ${JSON.stringify(body)}`)
    if (sawTags.get(key) !== keysOf(before.tags)) reached['tags changed beside those of another device'] += 1
  }

  return {
    /** The memos that devices have deleted, by themselves or with their book. */
    gone,
    saw,
    sawTags,
    renameTag: (to: string) => renamed.add(fold(to)),
    /** Call it before a write of a device is executed, and what it returns with the status of the answer. */
    watch: async (write: Write | undefined, path: string) => {
      const [, kind, id] = path.split('/')
      if (write?.kind === 'memo' && write.method === 'DELETE')
        return async (status: number) => void (status === 204 && gone.add(Number(id)))
      if (kind !== 'books' || !write || !(isBookDeletion(write) || write.part === '/tags')) return async () => {}
      const before = await read(id)
      return async (status: number) => {
        if (write.part === '/tags') return status === 200 ? checkTags(write, before, await read(id)) : undefined
        if (status === 204) checkDeletion(write, before)
        if (status === 412) reached['deletions of changed books refused'] += 1
      }
    },
  }
}
