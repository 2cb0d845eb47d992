// Creations with an Idempotency-Key, which a client repeats if it got no answer.
import { toLines } from '../harness/client'
import { jsonRequest, type Member, uploadRequest } from '../harness/members'
import type { Service } from '../harness/service'

/** `name`: the column with the key, by which the rows are counted. The path of an image is its identifier. */
const KINDS = {
  books: { id: 'bookId', table: 'books', name: 'title', toPath: () => '/books', more: {} },
  memos: {
    id: 'memoId',
    table: 'memos',
    name: 'memoContent',
    toPath: (bookId?: number) => `/memos?bookId=${bookId}`,
    more: { memoBookPage: 1 },
  },
  readings: {
    id: 'readingId',
    table: 'allReadings',
    name: 'note',
    toPath: (bookId?: number) => `/books/${bookId}/readings`,
    // In the past, and without stars, so that those of the book stay as they are.
    more: { finishedAt: '1999', outcome: 'STOPPED' },
  },
}
export type Creation = { kind: keyof typeof KINDS | 'images'; key: string; bookId?: number }

const toRequest = (member: Member, { kind, key, bookId }: Creation) => {
  const headers = toLines([['Idempotency-Key', key]])
  if (kind === 'images') return { ...uploadRequest(member), headers }
  const { name, toPath, more } = KINDS[kind]
  return jsonRequest('POST', toPath(bookId), { ...more, [name]: key }, { token: member.token, headers })
}

/** Returns the identifier of what was created, now or by an earlier request. */
export const createOnce = async (service: Service, member: Member, creation: Creation) => {
  const { status, body } = await service.request(toRequest(member, creation))
  if (status !== 201) throw new Error(`the creation in ${creation.kind} got ${status}`)
  const { kind } = creation
  return kind === 'images' ? new URL(String(body)).pathname.slice(1) : (body as Record<string, number>)[KINDS[kind].id]
}

/** How many rows a key made. An image has no text. */
export const countCreated = async ({ database }: Service, { memberId }: Member, { kind, key }: Creation) => {
  if (kind === 'images') return 1
  const { table, name } = KINDS[kind]
  const count = `select count(*) as count from ${table} where memberId = ? and ${name} = ?`
  return database.prepare(count).bind(memberId, key).first<number>('count')
}
