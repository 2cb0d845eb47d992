import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { blockMember, unblockMember } from '../../../scripts/members/block'
import { MAX_LINKS } from '../../../src/accounts/links/schema'
import { createLinkSecret, readLinkSecret } from '../../../src/auth/access-token'
import type { Scope } from '../../../src/values/contract'
import { change, confirmChange, lastCodeTo, requestChange, undo } from '../../support/accounts/email-changes'
import { EMAIL, mails, newNetwork, requestReset, resetCodeIn, resetWith } from '../../support/accounts/mailed-codes'
import { newEmail, type Reader, send, signUp } from '../../support/api'
import { measure, memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { insertAccessToken, insertLink } from '../../support/tokens'

const PASSWORD = 'another-horse-2'
const NEW = { name: 'What I read', kind: 'SHELF' }
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const UNKNOWN = '00000000-0000-4000-8000-000000000000'

let reader: Reader
beforeEach(async () => {
  vi.useRealTimers()
  await env.DB.batch(['attempts', 'dailyMails'].map((table) => env.DB.prepare(`delete from ${table}`)))
  reader = await signUp()
  mails.length = 0
})
afterEach(() => {
  vi.useRealTimers()
})

type Created = { linkId: string; url: string }
const create = async (link: object = {}, owner = reader): Promise<Created> => {
  const { status, body } = await owner.post('/links', { ...NEW, ...link })
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}
const list = async () => (await reader.get('/links')).body
const show = (url: string, suffix = '') => send('GET', new URL(url).pathname + suffix)
const statusOf = async (url: string) => (await show(url, '.json')).status
const secretOf = (url: string) => url.split('/').at(-1) ?? ''
const tag = async (bookId: number, ...tags: string[]) => reader.send('PUT', `/books/${bookId}/tags`, { body: { tags } })
const titlesOf = async (url: string) =>
  (await show(url, '.json')).body.item?.map(({ title }: { title: string }) => title)
const statusWith = async (method: string, path: string, body: object | undefined, ...scopes: Scope[]) => {
  const token = await insertAccessToken(memberDatabase(), await memberIdOf(reader), scopes, memberSlot())
  return (await send(method, path, { body, headers: { Authorization: `Bearer ${token}` } })).status
}

describe('POST /links', () => {
  it('returns the address, which names the slot and is stored nowhere', async () => {
    const { status, body, headers } = await reader.post('/links', { ...NEW, bookStatus: 'DONE' })
    expect(status).toBe(201)
    expect(body).toEqual({
      linkId: expect.any(String),
      ...NEW,
      bookStatus: 'DONE',
      tag: null,
      year: null,
      showName: false,
      createdAt: expect.stringMatching(INSTANT),
      url: expect.stringMatching(/\/l\/[\dA-Za-z]{39}$/),
    })
    expect(headers.get('Cache-Control')).toBe('no-store')
    const secret = secretOf(body.url)
    expect(readLinkSecret(secret)).toMatchObject({ slot: memberSlot(), kind: 'SHELF' })
    const [row] = await select('select * from accessTokens where tokenId = ?', body.linkId)
    expect(JSON.stringify(row)).not.toContain(secret.slice(6, 20))
  })

  it.each([
    [{ kind: 'SHELF', year: 2026 }, 'year'],
    [{ kind: 'MEMOS', bookStatus: 'DONE' }, 'bookStatus'],
    [{ kind: 'CALENDAR', tag: 'Novel' }, 'tag'],
    [{ kind: 'YEAR' }, 'year'],
    [{ kind: 'YEAR', year: 1899 }, 'year'],
    [{ kind: 'ALL' }, 'kind'],
    [{ showName: 'yes' }, 'showName'],
    [{ name: ' ' }, 'name'],
  ])('refuses %j', async (link, field) => {
    const answer = await reader.post('/links', { ...NEW, ...link })
    expect(answer).toMatchObject({ status: 400, body: { fieldErrors: [{ field }] } })
    expect(await list()).toEqual([])
  })

  it('refuses a tag that the member does not have', async () => {
    const other = await signUp()
    const { bookId } = await other.createBook()
    await other.send('PUT', `/books/${bookId}/tags`, { body: { tags: ['Novel'] } })
    const answer = await reader.post('/links', { ...NEW, tag: 'Novel' })
    expect([answer.status, answer.headers.get('X-Error-Code')]).toEqual([404, 'TAG_NOT_FOUND'])
    expect(await list()).toEqual([])
  })

  it(`creates at most ${MAX_LINKS} links of a member, also at once, which do not count as access tokens`, async () => {
    const answers = await Promise.all(Array.from({ length: MAX_LINKS + 5 }, () => reader.post('/links', NEW)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(MAX_LINKS)
    expect(await list()).toHaveLength(MAX_LINKS)
    expect((await reader.get('/tokens')).body).toEqual([])
    expect((await reader.post('/tokens', { name: 'Script', scopes: ['links:read'] })).status).toBe(201)
    expect(await list()).toHaveLength(MAX_LINKS)
  })

  it('needs the scopes to read what the link shows, and to write links', async () => {
    expect(await statusWith('POST', '/links', NEW, 'links:write')).toBe(403)
    expect(await statusWith('POST', '/links', NEW, 'links:read', 'library:read', 'memos:read')).toBe(403)
    expect(await statusWith('POST', '/links', NEW, 'links:write', 'library:read', 'memos:read')).toBe(201)
  })

  it('is in the activity, and in the hourly mail about access tokens', async () => {
    for (const path of ['/links', '/links', '/tokens']) {
      const body = path === '/links' ? NEW : { name: 'Script', scopes: ['library:read'] }
      expect((await reader.send('POST', path, { body, changed: { EMAIL } })).status).toBe(201)
    }
    expect(mails).toMatchObject([
      {
        to: reader.email,
        text: expect.stringMatching(/account is now 0, that of sharing links 1[\s\S]*토큰은 0개, 공유 링크는 1개/),
      },
    ])
    const kinds = (await reader.get('/members/me/activity')).body.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toContain('LINK_CREATED')
  })
})

describe('a link', () => {
  it('is listed without its address, with the day of its last use', async () => {
    const [first, second] = [
      await create({ name: 'First' }),
      await create({ name: 'Second', kind: 'YEAR', year: 2026 }),
    ]
    await select('update accessTokens set createdAt = createdAt - 5000 where tokenId = ?', first.linkId)
    expect(await statusOf(first.url)).toBe(200)
    const links = await list()
    expect(links.map(({ name }: { name: string }) => name)).toEqual(['Second', 'First'])
    const today = new Date().toISOString().slice(0, 10)
    expect(links).toMatchObject([
      { linkId: second.linkId, year: 2026, lastUsedAt: null },
      { linkId: first.linkId, year: null, lastUsedAt: today },
    ])
    expect(JSON.stringify(links)).not.toContain(secretOf(first.url))
  })

  it('is listed and renamed only with the scope to read the library: it names a tag', async () => {
    const path = `/links/${(await create()).linkId}`
    expect(await statusWith('GET', '/links', undefined, 'links:read')).toBe(403)
    expect(await statusWith('GET', '/links', undefined, 'links:read', 'library:read')).toBe(200)
    expect(await statusWith('PATCH', path, { name: 'New' }, 'links:read', 'links:write')).toBe(403)
    expect(await statusWith('PATCH', path, { name: 'New' }, 'links:read', 'links:write', 'library:read')).toBe(200)
  })

  it('is renamed and deleted by its owner only', async () => {
    const { linkId, url } = await create()
    const other = await signUp()
    for (const id of [linkId, UNKNOWN]) {
      expect((await other.patch(`/links/${id}`, { name: 'Mine' })).status).toBe(404)
      expect((await other.delete(`/links/${id}`)).status).toBe(404)
    }
    expect((await reader.patch(`/links/${linkId}`, { name: 'Renamed' })).body).toMatchObject({
      linkId,
      name: 'Renamed',
    })
    expect((await show(url, '.json')).body).toMatchObject({ name: 'Renamed', ownerName: null })
    const shown = await reader.patch(`/links/${linkId}`, { showName: true })
    expect(shown.body).toMatchObject({ name: 'Renamed', showName: true })
    expect(await list()).toEqual([{ ...shown.body, lastUsedAt: expect.any(String) }])
    expect((await reader.patch(`/links/${linkId}`, { name: 'Hidden', showName: false })).body.showName).toBe(false)
    expect((await show(url, '.json')).body).toMatchObject({ name: 'Hidden', ownerName: null })
    expect((await reader.delete(`/links/${linkId}`)).status).toBe(204)
    expect((await reader.delete(`/links/${linkId}`)).status).toBe(404)
    expect(await statusOf(url)).toBe(404)
  })

  it('is no access token, and an access token is no link', async () => {
    const { url, linkId } = await create()
    const { token, tokenId } = (await reader.post('/tokens', { name: 'Script', scopes: ['library:read'] })).body
    for (const credential of [secretOf(url), `rl_${secretOf(url)}`]) {
      const headers = { Authorization: `Bearer ${credential}` }
      expect((await send('GET', '/books', { headers })).status).toBe(401)
    }
    for (const secret of [token, token.slice(3)]) expect((await send('GET', `/l/${secret}`)).status).toBe(404)
    expect((await reader.delete(`/tokens/${linkId}`)).status).toBe(404)
    expect((await reader.delete(`/links/${tokenId}`)).status).toBe(404)
    expect((await reader.delete('/tokens')).status).toBe(204)
    expect(await statusOf(url)).toBe(200)
  })

  it('gets the same 404 whether it was deleted, never existed, is malformed or has no such suffix; a deleted one costs as much as an unknown one', async () => {
    const { url, linkId } = await create()
    await reader.delete(`/links/${linkId}`)
    const named = { slot: memberSlot(), kind: 'SHELF', variant: 0 } as const
    const never = createLinkSecret(named)
    const unbound = createLinkSecret({ ...named, slot: 61 })
    const lengthened = `${never}A`
    const withForm = await insertLink(memberDatabase(), await memberIdOf(reader), named)
    const answers: string[] = []
    const costs = []
    for (const secret of [secretOf(url), never, unbound, lengthened, `${withForm}.ics`, `${withForm}.html`]) {
      costs.push(
        await measure(async () => {
          const { status, headers, body } = await send('GET', `/l/${secret}`)
          const kept = [...headers].filter(([name]) => name !== 'x-request-id')
          answers.push(JSON.stringify([status, kept, body]))
        }),
      )
    }
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toMatch(/^\[404/)
    expect(costs[0]).toEqual(costs[1])
    expect(costs[0]?.calls).toBe(1)
    expect((await send('GET', `/l/${withForm}`)).status).toBe(200)
  })

  it('ends with a password reset, the undo of a change of address, a return, and withdrawal', async () => {
    const ends = async (end: () => Promise<unknown>) => {
      const { url } = await create()
      expect(await statusOf(url)).toBe(200)
      await end()
      expect(await statusOf(url)).toBe(404)
    }
    await ends(async () => {
      const from = newNetwork()
      await requestReset(reader.email, { from })
      await resetWith(reader.email, resetCodeIn(mails.at(-1)), PASSWORD, { from })
    })
    reader = await signUp()
    await ends(async () => {
      const email = newEmail()
      await change(reader, reader.email, email)
      await undo(lastCodeTo(reader.email))
    })
    reader = await signUp()
    await ends(async () => {
      const email = newEmail()
      await change(reader, reader.email, email)
      await requestChange(reader, reader.email)
      await confirmChange(reader, reader.email, lastCodeTo(reader.email))
    })
    reader = await signUp()
    await ends(() => reader.delete('/members/me'))
  })

  it('stays after a change of the password, also one that deletes access tokens', async () => {
    const { url } = await create()
    await reader.patch('/members/me', { password: PASSWORD, deleteAccessTokens: true })
    expect(await statusOf(url)).toBe(200)
  })

  it('does not work while its owner is blocked', async () => {
    const { url } = await create()
    const memberId = await memberIdOf(reader)
    await blockMember(memberDatabase(), memberId)
    expect(await statusOf(url)).toBe(404)
    await unblockMember(memberDatabase(), memberId)
    vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ['Date'] })
    expect(await statusOf(url)).toBe(200)
  })
})

describe('a link with a tag', () => {
  const createTagged = async (title: string, ...tags: string[]) => {
    const { bookId } = await reader.createBook({ title })
    await tag(bookId, ...tags)
    return bookId
  }

  it('follows the tag when it is renamed', async () => {
    await createTagged('One', 'Novel')
    await createTagged('Other', 'Essay')
    const { url } = await create({ tag: 'novel' })
    await reader.patch('/tags', { from: 'Novel', to: 'Fiction' })
    expect(await titlesOf(url)).toEqual(['One'])
    expect((await list())[0].tag).toBe('Fiction')
  })

  const allTags = async () => (await reader.get('/tags')).body

  it('and its tag outlive the last book of the tag, and show the next one', async () => {
    const bookId = await createTagged('One', 'Novel', 'Essay')
    const [{ url, linkId }, { linkId: other }] = [await create({ tag: 'Novel' }), await create({ tag: 'Novel' })]
    await tag(bookId)
    expect([await titlesOf(url), await allTags()]).toEqual([[], [{ tag: 'Novel', bookCount: 0 }]])
    expect((await reader.get('/books/tagged?tag=novel&page=1&size=1')).body.pageInfo.totalElements).toBe(0)
    await tag(bookId, 'novel')
    expect([await titlesOf(url), await allTags()]).toEqual([['One'], [{ tag: 'Novel', bookCount: 1 }]])
    await reader.delete(`/books/${bookId}`)
    const next = await createTagged('Two', 'NOVEL')
    expect(await titlesOf(url)).toEqual(['Two'])
    expect(await list()).toMatchObject([{ tag: 'Novel' }, { tag: 'Novel' }])
    await tag(next)
    await reader.delete(`/links/${linkId}`)
    expect(await allTags()).toEqual([{ tag: 'Novel', bookCount: 0 }])
    expect(await findMismatches(memberDatabase())).toEqual([])
    await reader.delete(`/links/${other}`)
    expect(await allTags()).toEqual([])
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('ends its tag without books, and the feed says so only then', async () => {
    const bookId = await createTagged('One', 'Novel')
    await create({ tag: 'Novel' })
    const { body: copy } = await reader.get('/changes')
    await tag(bookId)
    const changesAfter = async (cursor: string) => (await reader.get(`/changes?cursor=${cursor}`)).body
    const { item, next } = await changesAfter(copy.next)
    expect(item.map(({ kind }: { kind: string }) => kind)).toEqual(['book'])
    const { linkId } = (await list())[0]
    await reader.delete(`/links/${linkId}`)
    expect((await changesAfter(next)).item).toMatchObject([{ kind: 'tag', value: null }])
  })

  it('ends with the deletion of the tag, and shows nothing of a later tag with the same identifier', async () => {
    const bookId = await createTagged('One', 'Novel')
    const urls = [(await create({ tag: 'Novel' })).url]
    await tag(bookId)
    expect((await reader.delete('/tags?tag=Novel')).status).toBe(204)
    expect((await reader.delete('/tags?tag=Novel')).status).toBe(404)
    await createTagged('Secret', 'Private')
    expect(await statusOf(urls[0] ?? '')).toBe(404)
    const { url } = await create({ tag: 'Private' })
    expect((await reader.delete('/tags?tag=Private')).status).toBe(204)
    await createTagged('Secret 2', 'Private 2')
    expect(await statusOf(url)).toBe(404)
    expect(await list()).toEqual([])
  })

  it.each([
    ['neither', [], [], []],
    ['only the source', ['Kept'], [], ['Kept']],
    ['only the target', [], ['Merged'], ['Merged']],
  ])('keeps its books when the tags are merged, with a book in %s', async (_, sources, targets, shown) => {
    for (const [name, titles] of [
      ['Shown', sources],
      ['Private', targets],
    ] as const) {
      const bookId = await createTagged('Passing', name)
      await create({ name, tag: name })
      for (const title of titles) await createTagged(title, name)
      await tag(bookId)
    }
    const answer = await reader.patch('/tags', { from: 'Shown', to: 'Private' })
    expect(answer).toMatchObject({ status: 200, body: { tag: 'Private', bookCount: shown.length } })
    expect(await list()).toMatchObject([{ name: 'Private', tag: 'Private' }])
    expect(await allTags()).toEqual([{ tag: 'Private', bookCount: shown.length }])
    expect(await findMismatches(memberDatabase())).toEqual([])
    await createTagged('Next', 'Private')
    expect(await allTags()).toEqual([{ tag: 'Private', bookCount: shown.length + 1 }])
  })

  it.each([
    ['smaller', 1, 2],
    ['larger', 2, 1],
  ])('ends when the tag, the %s one, is merged into another, whose links stay', async (_, count, otherCount) => {
    for (let n = 0; n < count; n++) await createTagged(`Merged ${n}`, 'Shown')
    for (let n = 0; n < otherCount; n++) await createTagged(`Kept ${n}`, 'Private')
    const [merged, kept] = [await create({ tag: 'Shown' }), await create({ tag: 'Private' })]
    expect((await reader.patch('/tags', { from: 'Shown', to: 'Private' })).status).toBe(200)
    expect(await statusOf(merged.url)).toBe(404)
    expect(await titlesOf(kept.url)).toHaveLength(3)
    expect(await list()).toMatchObject([{ tag: 'Private' }])
    expect(await findMismatches(memberDatabase())).toEqual([])
  })
})
