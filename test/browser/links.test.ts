// The pages of links in Chromium: accessible in both themes and at both widths, and nothing loaded but covers.
// With SCREENSHOTS=DIR, they are saved there.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService } from '../support/service/dev-server.ts'
import { launch } from './launch.ts'

let service: Awaited<ReturnType<typeof startService>>
let browser: Browser
let token: string
beforeAll(async () => {
  service = await startService()
  browser = await launch()
  const member = { email: 'links@example.com', password: 'read-more-1' }
  await post('/join', { ...member, name: 'Links', authenticationCode: '000000' })
  token = (await post('/login', member)).headers.get('Authorization') ?? ''
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

const send = async (method: string, path: string, body: object) => {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: token }) }
  const response = await fetch(service.base + path, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
}
const post = (path: string, body: object) => send('POST', path, body)
const share = async (link: object) =>
  (await (await post('/links', { name: 'What I read', ...link })).json()).url as string

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
const { SCREENSHOTS } = process.env
const THEMES = ['light', 'dark'] as const
const WIDTHS = [360, 1280]

/** Opens a page in both themes and widths. Returns what is wrong with it, and the other hosts that it asked. */
const inspect = async (url: string, name: string) => {
  const problems: string[] = []
  const hosts = new Set<string>()
  const context = await browser.newContext({ bypassCSP: true })
  const page = await context.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  await page.route(/covers.example/, (route) => route.fulfill({ contentType: 'image/svg+xml', body: COVER }))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${service.base}/`)) hosts.add(new URL(request.url()).host)
  })
  await page.goto(url)
  await page.waitForLoadState('load')
  await page.evaluate(AXE)
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme })
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      if (SCREENSHOTS)
        await page.screenshot({ path: `${SCREENSHOTS}/${name}-${colorScheme}-${width}.png`, fullPage: true })
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      if (overflow > 0) problems.push(`${name} is ${overflow} pixels too wide at ${width}`)
      const { violations } = (await page.evaluate('axe.run()')) as AxeResults
      problems.push(...violations.map(({ id, nodes }) => `${colorScheme} ${width}: ${id} ${nodes[0]?.html}`))
    }
  }
  await context.close()
  return { problems, hosts: [...hosts].sort() }
}
const COVER =
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="96"><rect width="64" height="96" fill="#777"/></svg>'

const TITLES = [
  '소년이 온다',
  'مئة عام من العزلة',
  'A title that is much longer than any that a publisher would print on a cover, and that goes on and on, '.repeat(3),
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(2),
  '<b>Bold</b> & "quoted"',
]

it('renders pages of every kind without accessibility violations, overflow, or hosts other than those of covers', async () => {
  const empty = await share({ kind: 'SHELF' })
  expect(await inspect(empty, 'empty')).toEqual({ problems: [], hosts: [] })
  for (const [n, title] of TITLES.entries()) {
    const cover = n % 2 ? 'http://other-covers.example/2.jpg' : 'https://covers.example/1.jpg'
    const dates = n === 0 ? { bookStatus: 'DONE', readEndDate: '2026-05-01T00:00:00' } : { bookStatus: 'ING' }
    const { bookId } = await (await post('/books', { title, author: title, cover, ...dates })).json()
    const memo = { memoBookPage: n, memoContent: `${title}\n\nAnd a second paragraph.`, memoAuthority: 'PUBLIC' }
    await post(`/memos?bookId=${bookId}`, memo)
  }
  for (let n = 0; n < 30; n++) await post('/books', { title: `Book ${n}` })
  const shelf = await share({ kind: 'SHELF' })
  expect(await inspect(shelf, 'shelf')).toEqual({ problems: [], hosts: [] })
  const { next } = await (await fetch(`${shelf}.json?size=29`)).json()
  expect(await inspect(`${shelf}?cursor=${next}`, 'scripts')).toEqual({
    problems: [],
    hosts: ['covers.example', 'other-covers.example'],
  })
  expect(await inspect(await share({ kind: 'MEMOS' }), 'memos')).toEqual({ problems: [], hosts: [] })
  expect(await inspect(await share({ kind: 'CALENDAR' }), 'calendar')).toEqual({ problems: [], hosts: [] })
  expect(await inspect(await share({ kind: 'YEAR', year: 2026 }), 'year')).toEqual({ problems: [], hosts: [] })
  const page = await browser.newPage({ extraHTTPHeaders: { Accept: 'text/html' } })
  expect((await page.goto(`${service.base}/l/none`))?.status()).toBe(404)
  expect(await page.locator('h1').textContent()).toBe('Link not found')
  expect(await page.evaluate(() => getComputedStyle(document.body).maxWidth)).toBe('720px')
}, 120_000)

const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)><style>@import "https://elsewhere.example/x.css"</style></svg>',
  '<a href="javascript:alert(1)" id="link">link</a>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '</div></li></ol><h1>Another heading</h1><iframe src="https://elsewhere.example"></iframe>',
  '<p style="position:fixed;inset:0;background:url(https://elsewhere.example/x)">everywhere</p>',
]

it('shows the HTML of memos, and does nothing that they ask for', async () => {
  const { bookId } = await (await post('/books', { title: 'Markup' })).json()
  const contents = ['<p>One <em>word</em></p><ul><li>item</li></ul>', ...HOSTILE]
  for (const memoContent of contents)
    await post(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent, memoAuthority: 'PUBLIC' })
  const page = await browser.newPage()
  const seen: string[] = []
  page.on('dialog', (dialog) => {
    seen.push(dialog.message())
    return dialog.dismiss()
  })
  page.on('console', (message) => seen.push(message.text()))
  page.on('request', (request) => request.url().includes('elsewhere') && seen.push(request.url()))
  await page.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', ({ blockedURI }) => console.log(`blocked ${blockedURI}`)),
  )
  await page.goto(await share({ kind: 'MEMOS' }))
  await page.waitForLoadState('networkidle')
  expect(await page.locator('.text em').textContent()).toBe('word')
  expect(await page.locator('.text li').textContent()).toBe('item')
  expect(await page.locator('h1').count()).toBe(1)
  expect(await page.locator('.text').count()).toBeGreaterThanOrEqual(contents.length)
  expect(await page.locator('.text :is(script, style, svg, iframe, math, [style], [id], a)').count()).toBe(0)
  expect(seen).toEqual([])
  await page.close()
})

it('saves the picture of a year as PNG, the tall one on a phone, under its policy', async () => {
  const url = await share({ kind: 'YEAR', year: 2026 })
  for (const [width, height] of [
    [1280, 1260],
    [390, 4272],
  ] as const) {
    const page = await browser.newPage({ viewport: { width, height: 800 } })
    const errors: string[] = []
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    await page.goto(url)
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Save as PNG').click()])
    expect(download.suggestedFilename()).toBe('2026.png')
    const png = readFileSync(await download.path())
    expect([png.subarray(1, 4).toString(), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(['PNG', 2400, height])
    expect(errors).toEqual([])
    await page.close()
  }
})

it('looks the same when it is loaded again', async () => {
  const page = await browser.newPage()
  const url = await share({ kind: 'YEAR', year: 2026 })
  for (let n = 0; n < 2; n++) {
    await page.goto(url)
    expect(await page.locator('img').evaluate((picture: HTMLImageElement) => picture.naturalWidth)).toBe(1200)
    expect(await page.locator('button').isVisible()).toBe(true)
    expect(await page.evaluate(() => getComputedStyle(document.body).maxWidth)).toBe('1000px')
  }
  await page.close()
})

it('works with the keyboard alone', async () => {
  const page = await browser.newPage()
  await page.goto(await share({ kind: 'SHELF' }))
  const focused: (string | null)[] = []
  for (let n = 0; n < 3; n++) {
    await page.keyboard.press('Tab')
    focused.push(await page.evaluate(() => document.activeElement?.textContent ?? null))
  }
  expect(focused).toEqual(['Older', 'Atom feed', 'JSON feed'])
  await page.close()
})

it('draws the picture of a year with letters of at least 9 pixels, on a phone and on a desktop', async () => {
  const url = await share({ kind: 'YEAR', year: 2026 })
  for (const width of [390, 1280]) {
    const page = await browser.newPage({ viewport: { width, height: 800 } })
    await page.goto(url)
    const picture = await page.locator('img').evaluate((image: HTMLImageElement) => image.currentSrc)
    const scale = await page
      .locator('img')
      .evaluate((image: HTMLImageElement) => image.clientWidth / image.naturalWidth)
    const sizes = [...(await (await fetch(picture)).text()).matchAll(/font-size="(\d+)"/g)].map(([, size]) =>
      Number(size),
    )
    expect(Math.min(...sizes) * scale, `${width}`).toBeGreaterThan(9)
    await page.close()
  }
})

it('prints in black, without buttons, navigation and feeds, and with the addresses of links', async () => {
  const { bookId } = await (await post('/books', { title: 'Printed' })).json()
  const memoContent = '<a href="https://elsewhere.example/">there</a>'
  await post(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent, memoAuthority: 'PUBLIC' })
  const page = await browser.newPage({ colorScheme: 'dark' })
  const styleOf = (selector: string, name: 'display' | 'color' | 'breakInside' | 'filter') =>
    page.evaluate(
      ([selector, name]) => {
        const element = document.querySelector(selector)
        return element && getComputedStyle(element)[name]
      },
      [selector, name] as const,
    )
  await page.goto(await share({ kind: 'SHELF' }))
  await page.emulateMedia({ media: 'print' })
  for (const hidden of ['nav', '.feeds']) expect(await styleOf(hidden, 'display'), hidden).toBe('none')
  for (const text of ['h1', '.note']) expect(await styleOf(text, 'color'), text).toBe('rgb(0, 0, 0)')
  expect(await styleOf('main li', 'breakInside')).toBe('avoid')
  await page.goto(await share({ kind: 'MEMOS' }))
  const shown = await page.evaluate(() => {
    const link = document.querySelector('.text a')
    return link && getComputedStyle(link, '::after').content
  })
  expect(shown).toContain('https://elsewhere.example/')
  await page.emulateMedia({ media: 'screen' })
  await page.goto(await share({ kind: 'YEAR', year: 2026 }))
  await page.pdf()
  await page.emulateMedia({ media: 'print' })
  expect(await styleOf('button', 'display')).toBe('none')
  expect(await styleOf('img', 'filter')).toContain('invert(1)')
  await page.close()
})
