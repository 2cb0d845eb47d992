import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Reader, readerWith, signUp } from '../../support/api'
import { changeDatabase, memberDatabase, memberSlot } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { insertAccessToken } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await signUp()
  bookId = (await reader.createBook()).bookId
})

const etagOf = ({ headers }: Answer) => headers.get('ETag') ?? ''
const MEMO = { memoBookPage: 1, memoContent: 'A thought' }

let path: string
/** The version that a device has edited. */
let known: string
beforeEach(async () => {
  const created = await reader.post(`/memos?bookId=${bookId}`, MEMO)
  path = `/memos/${created.body.memoId}`
  known = etagOf(created)
})

const patch = (memoContent: string, tag: string) =>
  reader.send('PATCH', path, { body: { memoContent }, headers: { 'If-Match': tag } })
const remove = (tag: string) => reader.send('DELETE', path, { headers: { 'If-Match': tag } })

describe('the ETag of a memo', () => {
  it('is the same until the memo changes', async () => {
    expect(known).toMatch(/^"[1-9]\d{0,15}"$/)
    expect(etagOf(await reader.get(path))).toBe(known)
    expect(etagOf(await reader.patch(path, {}))).toBe(known)
  })

  it('changes with each update, even to the same values', async () => {
    const updated = await reader.patch(path, MEMO)
    expect(etagOf(updated)).not.toBe(known)
    expect(etagOf(await reader.get(path))).toBe(etagOf(updated))
    expect(etagOf(await reader.patch(path, { memoBookPage: 2 }))).not.toBe(etagOf(updated))
  })

  it('is 0 for a memo from before versions', async () => {
    await memberDatabase().prepare('update memos set version = 0 where memoId = ?').bind(path.split('/')[2]).run()
    expect(etagOf(await reader.get(path))).toBe('"0"')
    expect((await patch('edited', '"0"')).status).toBe(200)
  })
})

describe('If-Match', () => {
  it.each([
    ['the tag', (tag: string) => tag],
    ['a weak tag', (tag: string) => `W/${tag}`],
    ['one of several tags', (tag: string) => `"1", ${tag} , "x"`],
    ['*', () => '*'],
  ])('accepts %s', async (_, toHeader) => {
    const updated = await patch('edited', toHeader(known))
    expect(updated).toMatchObject({ status: 200, body: { memoContent: 'edited' } })
    expect((await remove(toHeader(etagOf(updated)))).status).toBe(204)
    expect((await reader.get(path)).status).toBe(404)
  })

  it.each(['"1"', '"x"', 'W/', '"', '"1" "2"'])('refuses the tag %s', async (tag) => {
    for (const send of [() => patch('edited', tag), () => remove(tag)]) {
      expect((await send()).status).toBe(412)
      expect((await reader.get(path)).body.memoContent).toBe(MEMO.memoContent)
    }
  })

  it('does not overwrite or delete an edit made elsewhere, and returns it', async () => {
    const edited = await reader.patch(path, { memoContent: 'edited elsewhere' })
    for (const answer of [
      await patch('edited here', known),
      await reader.send('PATCH', path, { body: { memoBookPage: 9 }, headers: { 'If-Match': known } }),
      await reader.send('PATCH', path, { body: {}, headers: { 'If-Match': known } }),
      await remove(known),
    ]) {
      expect(answer).toMatchObject({
        status: 412,
        body: { status: 412, message: 'Precondition failed', fieldErrors: null, violationErrors: null },
      })
      expect(answer.body.memo).toEqual(edited.body)
      expect(etagOf(answer)).toBe(etagOf(edited))
    }
    expect((await reader.get(path)).body).toEqual({ ...edited.body, bookId })
  })

  it('lets one of two concurrent edits through', async () => {
    const answers = await Promise.all(['one', 'other'].map((text) => patch(text, known)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412])
    const [won, lost] = answers.toSorted((a, b) => a.status - b.status)
    expect(lost?.body.memo).toEqual(won?.body)
  })

  it('answers 404 for a deleted memo', async () => {
    await reader.delete(path)
    expect((await patch('edited', known)).status).toBe(404)
    expect((await remove(known)).status).toBe(404)
  })

  it('prefers 412 to a full quota', async () => {
    const changed = { MAX_BOOK_TEXT_BYTES: '1' }
    const send = (tag: string) =>
      reader.send('PATCH', path, { body: { memoContent: 'a longer thought' }, headers: { 'If-Match': tag }, changed })
    expect((await send('"1"')).status).toBe(412)
    expect((await send(known)).status).toBe(409)
  })

  it('keeps an update that took effect although the database failed', async () => {
    let attempts = 0
    const lossy = wrapDatabase(memberDatabase(), async (call) => {
      const results = await call()
      if (attempts++ === 0) throw new Error('Network connection lost')
      return results
    })
    const headers = { 'If-Match': known }
    const changed = changeDatabase(lossy)
    const answer = await reader.send('PATCH', path, { body: { memoContent: 'edited' }, headers, changed })
    expect(answer).toMatchObject({ status: 200, body: { memoContent: 'edited' } })
    expect(attempts).toBe(2)
    expect(etagOf(await reader.get(path))).toBe(etagOf(answer))
  })

  it('shows no memo to a token that may not read memos', async () => {
    const token = await insertAccessToken(memberDatabase(), await memberIdOf(reader), ['memos:write'], memberSlot())
    const script = readerWith('', token)
    const answer = await script.send('DELETE', path, { headers: { 'If-Match': '"1"' } })
    expect(answer).toMatchObject({ status: 412, body: { memo: null } })
    expect((await script.send('DELETE', path, { headers: { 'If-Match': known } })).status).toBe(204)
  })

  it.each([
    ['POST', '/books', { title: 'Demian' }],
    ['PATCH', '/books/1', { star: 1 }],
    ['POST', '/memos?bookId=1', MEMO],
    ['PUT', '/books/1/tags', { tags: [] }],
    ['PATCH', '/members/me', { name: 'x' }],
  ])('is refused by %s %s', async (method, at, body) => {
    const answer = await reader.send(method, at, { body, headers: { 'If-Match': known } })
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('/memos/{memo-id}') } })
    expect(answer.headers.get('X-Error-Code')).toBe('IF_MATCH_UNSUPPORTED')
  })
})
