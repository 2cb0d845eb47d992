import { expect, it } from 'vitest'
import { type Answer, send } from '../../support/api'
import { violation } from '../../support/inputs/invalid-values'

const get = (path: string, headers?: Record<string, string>) => send('GET', `/ext-lib/${path}`, { headers })

const expectEntries = ({ status, headers, body }: Answer) => {
  expect(status).toBe(200)
  expect(body.length).toBeLessThanOrEqual(10)
  for (const { cover, itemPage, ...entry } of body) {
    expect(Object.keys(entry).sort()).toEqual(['author', 'publisher', 'title'])
    for (const value of Object.values(entry)) expect(value === null || String(value).trim()).not.toBe('')
    expect(entry.title).not.toBeNull()
    if (cover !== null) expect(cover).toMatch(/^https:\/\//)
    if (itemPage !== null) expect(Number.isInteger(itemPage) && itemPage > 0).toBe(true)
  }
  expect(headers.get('Cache-Control')).toMatch(/^public, max-age=\d+$/)
}

it.each(['best-seller', 'item-new-special', '한강'])('answers up to ten entries of %s', async (path) => {
  expectEntries(await get(encodeURIComponent(path)))
})

it('ignores a token, valid or not', async () => {
  expectEntries(await get('best-seller', { Authorization: 'Bearer nonsense' }))
})

it('answers an empty array if nothing is found', async () => {
  expect(await get('zzqxjwv-no-such-title')).toMatchObject({ status: 200, body: [] })
})

it.each([
  ['nothing', ''],
  ['white space', '%20%20'],
  ['101 characters', 'x'.repeat(101)],
  ['a NUL', 'a%00b'],
])('rejects a search for %s', async (_, query) => {
  expect(await get(query)).toMatchObject(violation('title-or-author', decodeURIComponent(query)))
})

it('accepts 100 characters, and encoded slashes', async () => {
  for (const query of ['x'.repeat(100), encodeURIComponent('📚'.repeat(100)), 'a%2Fb%3F']) {
    expect((await get(query)).status).toBe(200)
  }
})

it.each(['best-seller', 'a/b'])('allows only GET and HEAD: %s', async (path) => {
  const answer = await send('POST', `/ext-lib/${path}`)
  expect(answer).toMatchObject({ status: 405, body: { status: 405 } })
  expect(answer.headers.get('Allow')).toBe('GET, HEAD')
})
