import { releaseAddresses } from '../../src/accounts/addresses/directory.ts'
import { withdraw } from '../../src/accounts/members/store.ts'
import { connect } from '../../src/db/client.ts'
import { toMark } from '../../src/values/marks.ts'
import { OWN_QUOTAS, type OwnQuota } from '../../src/values/quotas.ts'
import { print, printable } from '../print.ts'
import { mainOf, queryAll } from '../slots/compare.ts'
import { createPartFiles } from '../transfer/part-files.ts'
import { asMember } from './as-member.ts'
import { deleteAttempts, listAttempts } from './attempts.ts'
import { blockMember, listAside, unblockMember } from './block.ts'
import { exportMember } from './export.ts'
import type { Target } from './find.ts'

/** What a command would change, and the function that does it. */
type Change = { changes: string; apply: () => Promise<unknown> }

/** `values`: the quotas to set, such as MAX_BOOKS=5, or the link to delete. The rest is for `export`. */
type Options = { values: string[]; out?: string | undefined; force: boolean }

/** Describes how many rows of some tables the member has. */
const countRows = async ({ database, memberId }: Target, tables: Record<string, string>) => {
  const counts = Object.entries(tables).map(
    ([name, table]) => `(select count(*) from ${table} where memberId = ?1) as "${name}"`,
  )
  const [row = {}] = await queryAll<Record<string, number>>(database, `select ${counts}`, memberId)
  return Object.entries(row)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}
const LIBRARY = { books: 'books', memos: 'memos', images: 'images' }
const CREDENTIALS = { sessions: 'sessions', 'access tokens and links': 'accessTokens' }

const endSessions = async (target: Target): Promise<Change> => ({
  changes: await countRows(target, CREDENTIALS),
  apply: () =>
    target.database.batch(
      Object.values(CREDENTIALS).map((table) =>
        target.database.prepare(`delete from ${table} where memberId = ?`).bind(target.memberId),
      ),
    ),
})

/** @throws Error unless the link is one of the member's */
const deleteLink = async ({ database, memberId }: Target, { values: [linkId = ''] }: Options): Promise<Change> => {
  const condition = 'memberId = ? and tokenId = ? and kind is not null'
  const [link] = await queryAll<{ name: string }>(
    database,
    `select name from accessTokens where ${condition}`,
    memberId,
    linkId,
  )
  if (!link) throw new Error('No such link: add an identifier that `links` prints')
  return {
    changes: `link ${linkId} (${printable(link.name)})`,
    apply: () => queryAll(database, `delete from accessTokens where ${condition}`, memberId, linkId),
  }
}

const block = async (target: Target): Promise<Change> => ({
  changes: `${await countRows(target, listAside(false))} set aside`,
  apply: () => blockMember(target.database, target.memberId),
})

const unblock = async (target: Target): Promise<Change> => ({
  changes: `${await countRows(target, listAside(true))} brought back`,
  apply: () => unblockMember(target.database, target.memberId),
})

const SETTING = new RegExp(`^(${Object.keys(OWN_QUOTAS).join('|')})=(\\d{1,15}|null)$`)

const quota = async ({ database, memberId }: Target, { values }: Options): Promise<Change> => {
  const columns = values.map((setting) => {
    const [, name, value] = SETTING.exec(setting) ?? []
    if (!name)
      throw new Error(`${setting}: must be one of ${Object.keys(OWN_QUOTAS).join(', ')}, = and a number or null`)
    return `${OWN_QUOTAS[name as OwnQuota]} = ${value}`
  })
  if (columns.length === 0) throw new Error('Add quotas, such as MAX_BOOKS=1000; null is the quota of the service')
  const apply = () => queryAll(database, `update members set ${columns} where memberId = ?`, memberId)
  return { changes: values.join(' '), apply }
}

const unlock = async (target: Target): Promise<Change> => {
  const attempts = await listAttempts(target)
  if (!attempts) throw new Error('Set JWT_SECRET in the environment to the secret of the deployment')
  return { changes: `${attempts.length} attempts`, apply: () => deleteAttempts(target) }
}

const exportLibrary = async (target: Target, { out, force }: Options): Promise<Change> => ({
  changes: await countRows(target, LIBRARY),
  apply: async () => {
    const imageBase = target.settings.IMAGE_BASE_URL || target.settings.PUBLIC_URL
    if (!imageBase) throw new Error('Set PUBLIC_URL in the environment to that of the deployment')
    const files = createPartFiles(out ?? `reading-library-${target.memberId}.json`, force)
    files.findEarlier()
    try {
      let part = 0
      for await (const { body } of exportMember(target, String(imageBase))) {
        if (body) await files.write(++part, body)
      }
      for (const each of files.publish()) print(each)
    } finally {
      files.discard()
    }
  },
})

const deleteMember = async (target: Target): Promise<Change> => ({
  changes: await countRows(target, { ...LIBRARY, ...CREDENTIALS }),
  apply: async () => {
    const { db, caller } = asMember(target)
    const { memberId, createdAt } = await withdraw(db, caller)
    if (target.slot > 0) await releaseAddresses({ directory: connect(mainOf(target.slots)) }, [memberId])
    // The sweep repeats it, but a restore may come first.
    await target.bucket.put(toMark({ kind: 'withdrawn', memberId, at: createdAt }), '')
  },
})

/** Commands that change something, and are recorded. */
export const CHANGES = new Map<string, (target: Target, options: Options) => Promise<Change>>(
  Object.entries({
    'end-sessions': endSessions,
    'delete-link': deleteLink,
    block,
    unblock,
    quota,
    unlock,
    export: exportLibrary,
    delete: deleteMember,
  }),
)
