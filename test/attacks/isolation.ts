// Somebody else's books and memos: to whoever may not have them, each is as if it had never been.

import { claimsOf, signClaims } from '../support/forgeries'
import { addressOf, attemptsOn, idOperations, operations } from '../support/operations'
import type { Asked, Reply } from './client'
import { logIn, PASSWORD, registerBook, signUp, withJson, writeMemo } from './members'
import type { Part } from './part'
import { JWT_SECRET, type Service } from './service'
import { digest } from './state'

const MARK = 'nobody-else-may-read-this'
/** Identifiers that nothing has: one that may come, one that is the largest. */
const NOBODYS = ['999999', '9007199254740991']

const makeThings = async (service: Service) => {
  const owner = await signUp(service)
  const bookId = await registerBook(service, owner, { title: MARK, author: MARK })
  const memoId = await writeMemo(service, owner, bookId, { memoContent: MARK })
  const deletedBook = await registerBook(service, owner)
  const deletedMemo = await writeMemo(service, owner, deletedBook)
  await service.ask({ method: 'DELETE', path: `/books/${deletedBook}`, token: owner.token })
  return { owner, things: { bookId, memoId, deletedBook, deletedMemo } }
}

/** Everybody who may not, by what they send for a token; those of the owner's own are no longer good, or never were. */
const makeActors = async (service: Service) => {
  const { owner, things } = await makeThings(service)
  const stranger = await signUp(service)
  const gone = await signUp(service)
  await service.ask({ method: 'DELETE', path: '/members/me', token: gone.token })
  const changed = await service.ask(
    withJson(
      'PATCH',
      '/members/me',
      { password: `${PASSWORD}-changed` },
      { token: (await logIn(service, owner.email)).token },
    ),
  )
  if (changed.status !== 200) throw new Error(`The password was not changed: ${changed.status}`)
  const kept = await logIn(service, owner.email, `${PASSWORD}-changed`)
  const claims = claimsOf(kept.token)
  const expired = await signClaims({ ...claims, exp: Math.floor(Date.now() / 1000) - 1 }, JWT_SECRET)
  const forged = await signClaims(claims, 'a secret that somebody else made up, long enough')
  const actors: Record<string, string | undefined> = {
    'another member': stranger.token,
    'nobody, without a token': undefined,
    'an expired token': expired,
    'a forged token': forged,
    'a revoked token': owner.token,
    'a member who withdrew': gone.token,
  }
  return { owner: kept, stranger, things, actors }
}

/** All of an answer, but for what tells one request from another. */
const bytesOf = ({ status, headers, bytes }: Reply) =>
  JSON.stringify([
    status,
    [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'),
    bytes.toString('latin1'),
  ])

export const isolation: Part = async ({ progress, start }) => {
  const service = await start()
  const { owner, stranger, things, actors } = await makeActors(service)
  const own = { book: await registerBook(service, stranger), memo: 0 }
  own.memo = await writeMemo(service, stranger, own.book)
  const before = await digest(service, owner.memberId)
  const failures: string[] = []
  let compared = 0
  let differed = 0
  let refused = 0

  const namesOf = (bookId: number | string, memoId: number | string) => ({
    'book-id': String(bookId),
    bookId: String(bookId),
    'memo-id': String(memoId),
  })
  const compare = async (actor: string, theirs: Asked, nobodys: Asked[], wanted: number) => {
    const answer = await service.ask(theirs)
    const bytes = bytesOf(answer)
    const what = `${theirs.method} ${theirs.path} ${theirs.body ?? ''} by ${actor}`
    if (bytes.includes(MARK)) failures.push(`${what}: the answer shows what is another’s`)
    if (answer.status === wanted) refused += 1
    else if (answer.status < 400 && theirs.method !== 'OPTIONS') failures.push(`${what}: ${answer.status}`)
    for (const absent of nobodys) {
      compared += 1
      const other = bytesOf(await service.ask(absent))
      if (other === bytes) continue
      differed += 1
      failures.push(`${what}: ${bytes} but ${other} for ${absent.path}`)
    }
  }

  for (const operation of idOperations) {
    progress(`${operation.method} ${operation.template}`)
    const absent = [...NOBODYS.map((id) => namesOf(id, id)), namesOf(things.deletedBook, things.deletedMemo)]
    const path = addressOf(operation, namesOf(things.bookId, things.memoId))
    for (const [actor, token] of Object.entries(actors)) {
      for (const attempt of attemptsOn(operation)) {
        const asked = { ...attempt, token }
        const nobodys = absent.map((names) => ({ ...asked, path: addressOf(operation, names) }))
        await compare(actor, { ...asked, path }, nobodys, actor === 'another member' ? 404 : 401)
      }
    }
  }

  progress('mixed parents')
  const mixed: [Asked, number][] = [
    [withJson('POST', `/memos?bookId=${things.bookId}`, { memoBookPage: 1, memoContent: 'mine' }), 404],
    [
      withJson('POST', `/memos?bookId=${own.book}&bookId=${things.bookId}`, { memoBookPage: 1, memoContent: 'mine' }),
      400,
    ],
    [
      withJson('POST', `/memos?bookId=${own.book}`, {
        memoBookPage: 1,
        memoContent: 'mine',
        bookId: things.bookId,
        memberId: owner.memberId,
      }),
      201,
    ],
    [
      withJson('PATCH', `/memos/${own.memo}`, {
        memoBookPage: 2,
        bookId: things.bookId,
        memberId: owner.memberId,
        memoId: things.memoId,
      }),
      200,
    ],
    [withJson('PATCH', `/memos/${own.memo}?bookId=${things.bookId}`, { memoBookPage: 3 }), 200],
    [withJson('PATCH', `/books/${own.book}`, { star: 2, bookId: things.bookId, memberId: owner.memberId }), 200],
    [withJson('POST', '/books', { title: 'x', bookId: things.bookId, memberId: owner.memberId }), 201],
    [{ method: 'DELETE', path: `/memos/${things.memoId}?bookId=${own.book}` }, 404],
  ]
  for (const [request, wanted] of mixed) {
    const answer = await service.ask({ ...request, token: stranger.token })
    if (answer.status !== wanted)
      failures.push(`${request.method} ${request.path} ${request.body}: ${answer.status}, not ${wanted}`)
  }

  const { results: moved } = await service.database
    .prepare('select memoId from memos join books using (bookId) where memos.memberId <> books.memberId')
    .all()
  if (moved.length > 0) failures.push(`memos in books of others: ${JSON.stringify(moved)}`)

  progress('views')
  const views = operations.filter(
    ({ method, isMembersOnly, path }) => method === 'GET' && isMembersOnly && path.length === 0,
  )
  const shown: string[] = []
  for (const view of views) {
    const { bytes } = await service.ask({ method: 'GET', path: addressOf(view), token: stranger.token })
    if (bytes.includes(MARK)) shown.push(view.template)
  }
  failures.push(...shown.map((view) => `${view}: the answer shows what is another’s`))
  const isWhole = (await digest(service, owner.memberId)) === before
  if (!isWhole) failures.push('what the owner has was changed')
  return {
    figures: [
      {
        tried: `answers about another’s thing beside one about nothing, ${idOperations.length} operations, ${Object.keys(actors).length} callers`,
        times: compared,
        found: `${differed} differ`,
      },
      {
        tried: 'of the first, refused as they must be',
        times: refused,
        found: isWhole ? 'nothing of the owner’s changed' : 'the owner’s things changed',
      },
      { tried: 'requests that name two parents', times: mixed.length, found: `${moved.length} memos moved` },
      { tried: 'views of another member', times: views.length, found: `${shown.length} show what is another’s` },
    ],
    failures,
  }
}
