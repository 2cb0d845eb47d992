// The app of docs/build-an-app.md in Chromium, on a phone: what it shows, how many requests a screen takes, and offline.
import { readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startService } from '../support/service/dev-server.ts'
import { launch } from './launch.ts'

const MEMBER = { email: 'app@example.com', password: 'read-more-1' }
const APP = '/test/browser/app/index.html'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
const COVER = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="96"><rect width="64" height="96"/></svg>'
const TYPES: Record<string, string> = { html: 'text/html', css: 'text/css', ts: 'text/javascript' }

let service: Awaited<ReturnType<typeof startService>>
let browser: Browser
let context: BrowserContext
let page: Page
let token: string
let demian: number
/** Method and path of each request to the service. */
let requests: string[]

const send = async (method: string, path: string, body?: object) => {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: token }) }
  const response = await fetch(service.base + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
}
const createBook = async (book: object, edition: object = {}, tags: string[] = []) => {
  const { bookId } = await (await send('POST', '/books', book)).json()
  await send('PATCH', `/books/${bookId}/edition`, edition)
  await send('PUT', `/books/${bookId}/tags`, { tags })
  return bookId as number
}

beforeAll(async () => {
  service = await startService()
  browser = await launch()
  token = ''
  await send('POST', '/join', { ...MEMBER, name: 'App', authenticationCode: '000000' })
  token = (await send('POST', '/login', MEMBER)).headers.get('Authorization') ?? ''
  const cover = 'https://covers.example/1.jpg'
  const edition = { series: 'Stories', seriesNumber: 2, publishedYear: 1919, format: 'PAPER' }
  const demianBook = { title: 'Demian', author: 'Hermann Hesse', cover, itemPage: 200, bookStatus: 'ING' }
  demian = await createBook(demianBook, edition, ['Novel', 'Slow'])
  await createBook({ title: '<b>Emma</b>', author: 'Jane Austen', bookStatus: 'ING' }, {}, ['Novel'])
  for (let n = 0; n < 40; n++) await createBook({ title: `Book ${n}`, bookStatus: 'DONE' }, {}, n % 2 ? ['Novel'] : [])
  await send('POST', `/books/${demian}/progress`, { page: 54 })
  const memo = { memoBookPage: 12, memoContent: 'The bird fights its way out of the egg.' }
  for (let n = 0; n < 25; n++)
    await send('POST', `/memos?bookId=${demian}`, n < 24 ? { ...memo, memoContent: `${n}` } : memo)
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

beforeEach(async () => {
  await context?.close()
  context = await browser.newContext({ viewport: { width: 390, height: 844 }, bypassCSP: true })
  page = await context.newPage()
  requests = []
  page.on('pageerror', (error) => requests.push(`error: ${error.message}`))
  page.on('request', (request) => {
    const { host, pathname, search } = new URL(request.url())
    const isFile = pathname.startsWith('/test/') || pathname.endsWith('.ts') || pathname === '/favicon.ico'
    if (host === new URL(service.base).host && !isFile) requests.push(`${request.method()} ${pathname}${search}`)
  })
  await page.route(/^https:/, (route) => route.fulfill({ contentType: 'image/svg+xml', body: COVER }))
  // The app is served beside the service, as plain files: of TypeScript, only the types are left out.
  await page.route(/\/(?:test\/browser\/app\/|docs\/indexed-db-store)[^?]*$/, (route) => {
    const path = new URL(route.request().url()).pathname.slice(1)
    const text = readFileSync(path, 'utf8')
    const type = path.split('.').at(-1) ?? ''
    return route.fulfill({ contentType: TYPES[type], body: type === 'ts' ? stripTypeScriptTypes(text) : text })
  })
  await page.goto(service.base + APP)
})

const signIn = async () => {
  await page.getByLabel('E-mail').fill(MEMBER.email)
  await page.getByLabel('Password').fill(MEMBER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Reading now' }).waitFor()
  requests = []
}
const go = async (hash: string, heading: string) => {
  requests = []
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await page.getByRole('heading', { name: heading, exact: true }).waitFor()
}
const textOf = () => page.locator('main').textContent()
/** What is wrong with the screen on a phone. */
const findFaults = async () => {
  await page.evaluate(AXE)
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  const faults = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
  return overflow > 0 ? [...faults, `${overflow} pixels too wide`] : faults
}

it('signs in, and shows what is being read in one request, with the last page and memo', async () => {
  await page.getByLabel('E-mail').fill(MEMBER.email)
  await page.getByLabel('Password').fill('wrong-password-1')
  await page.getByRole('button').click()
  await page.getByRole('alert').filter({ hasText: /./ }).waitFor()
  await signIn()
  await page.reload()
  await page.getByText('Demian').waitFor()
  expect(requests).toEqual(['GET /books?status=ING&sort=-activity&include=progress,lastMemo&size=5'])
  const text = await textOf()
  expect(text).toMatch(/DemianHermann HessePage 54 of 200, \d{4}-\d\d-\d\dThe bird fights/)
  expect(text).toContain('<b>Emma</b>')
  expect(text).not.toContain('Book 1')
  expect(await findFaults()).toEqual([])
}, 60_000)

it('shows each page of a shelf in one request, filtered by what one request counts', async () => {
  await signIn()
  await go('/shelf', 'Shelf')
  await page.getByText('More').click()
  await page.getByText('Demian').waitFor()
  expect(requests).toHaveLength(2)
  expect(await findFaults()).toEqual([])
  await go('/filters', 'Filter')
  expect(requests).toEqual(['GET /books/counts'])
  expect(await page.getByLabel('tag').textContent()).toContain('Novel (22)')
  expect(await findFaults()).toEqual([])
  requests = []
  await page.getByLabel('status').selectOption('ING')
  await page.getByLabel('tag').selectOption('Slow')
  await page.getByLabel('format').selectOption('PAPER')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('Demian').waitFor()
  expect(await page.locator('li').count()).toBe(1)
  expect(requests).toEqual(['GET /books?sort=title&size=30&status=ING&tag=Slow&format=PAPER'])
}, 60_000)

it('shows a book in one request', async () => {
  await signIn()
  await page.getByText('Demian').click()
  await page.getByRole('heading', { name: 'Demian' }).waitFor()
  expect(requests).toEqual([`GET /books/${demian}/whole`])
  const text = await textOf()
  for (const part of [
    'Hermann Hesse',
    'Stories, 2',
    '1919',
    'Page 54 of 200',
    'Novel, Slow',
    '25 memos',
    'The bird fights',
  ])
    expect(text).toContain(part)
  expect(await page.locator('blockquote').count()).toBe(20)
  expect(await findFaults()).toEqual([])
}, 60_000)

it('searches as one types, in one request for each pause, and says what a term needs', async () => {
  await signIn()
  await go('/search', 'Search')
  // In one task: on a busy machine, keys would come with pauses between them.
  await page.getByLabel('Title').evaluate((field: HTMLInputElement, text) => {
    for (let length = 1; length <= text.length; length++) {
      field.value = text.slice(0, length)
      field.dispatchEvent(new Event('input', { bubbles: true }))
    }
  }, 'hesse demian')
  await page.getByText('Hermann Hesse').waitFor()
  expect(requests).toEqual(['GET /books/search?q=hesse+demian'])
  await page.getByLabel('Title').fill('d')
  await page.getByRole('note').filter({ hasText: 'characters' }).waitFor()
  expect(await findFaults()).toEqual([])
}, 60_000)

it('shows offline what was last seen, and signs out when the session has ended', async () => {
  await signIn()
  await go(`/book?id=${demian}`, 'Demian')
  await context.setOffline(true)
  await go('/', 'Reading now')
  await page.getByText('Offline').waitFor()
  await go(`/book?id=${demian}`, 'Demian')
  await context.setOffline(false)
  const appToken = await page.evaluate(() => localStorage.getItem('token'))
  await fetch(`${service.base}/logout`, { method: 'POST', headers: { Authorization: appToken ?? '' } })
  await page.evaluate(() => {
    location.hash = '/shelf'
  })
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.evaluate(() => localStorage.length)).toBe(0)
}, 60_000)
