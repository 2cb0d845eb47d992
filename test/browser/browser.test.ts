import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { startService } from '../support/service/dev-server.ts'
import { launch } from './launch.ts'

type Modules = typeof import('../../docs/offline-client') & typeof import('../../docs/indexed-db-store')

let service: Awaited<ReturnType<typeof startService>>
let browser: Browser
beforeAll(async () => {
  service = await startService()
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

/** Other load can slow the layout of the reference. */
const PAGE_TIMEOUT_MS = 90_000

/** Opens a page and collects the errors in its console and its requests to other origins. */
const open = async (path: string) => {
  const page = await browser.newPage()
  page.setDefaultTimeout(PAGE_TIMEOUT_MS)
  const problems: string[] = []
  // The console reports every error status; the tests check those themselves.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load')) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('requestfailed', (request) => problems.push(request.url()))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${service.base}/`) && !/^(?:data|blob):/.test(request.url()))
      problems.push(request.url())
  })
  await page.goto(service.base + path)
  return { page, problems }
}

/** Tries an operation with a body or file. Returns the status and text of the answer. */
const tryOut = async (page: Page, operation: string, body?: object | Buffer) => {
  const block = page.locator(`#${operation} .try`)
  if ((await block.getAttribute('open')) === null) await block.locator('summary').first().click()
  if (Buffer.isBuffer(body)) {
    await block.locator('input[type=file]').setInputFiles({ name: 'page.png', mimeType: 'image/png', buffer: body })
  } else if (body) await block.locator('textarea').fill(JSON.stringify(body))
  await block.getByText('Send').click()
  const status = block.locator('.result strong')
  await status.waitFor()
  return { status: await status.textContent(), text: (await block.locator('.answer').textContent()) ?? '' }
}

/** The distance of an element from the top of the window. */
const topOf = (page: Page, id: string) =>
  page.locator(`#${id}`).evaluate((element) => element.getBoundingClientRect().top)

// A 2 × 1 picture, red and blue.
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4zwAE/wEHAAH/4iOeWQAAAABJRU5ErkJggg=='
const MEMBER = { email: 'page@example.com', password: 'read-more-1' }
const PROFILE = { name: 'Page', authenticationCode: '000000' }

describe('/docs', () => {
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))

  it('is where / redirects a browser, and shows every operation under a strict policy', async () => {
    const { page, problems } = await open('/')
    expect(new URL(page.url()).pathname).toBe('/docs')
    const { paths } = await (await fetch(`${service.base}/openapi.json`)).json()
    const described = Object.values(paths as Record<string, object>).flatMap((item) => Object.keys(item))
    expect(await page.locator('main > article').count()).toBe(described.length)
    expect(await page.locator('#list a .method').count()).toBe(described.length)
    const policy = (await fetch(`${service.base}/docs`)).headers.get('Content-Security-Policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|http|\*/)
    expect(problems).toEqual([])
  })

  it.each(['IMAGE_NOT_FOUND', 'registerBook'])('opens at #%s', async (id) => {
    const { page } = await open(`/docs#${id}`)
    await expect.poll(() => topOf(page, id)).toBeCloseTo(68, -1)
  })

  it('finds operations by name and sections by text, and scrolls to the text', async () => {
    const { page } = await open('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type('register a book')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).hash).toBe('#registerBook')
    await page.locator('#search').fill('reset mails to one')
    await page.locator('#results').getByText('Limits').click()
    await expect.poll(() => new URL(page.url()).hash).toBe('#limits')
    const row = page.getByRole('cell', { name: 'Reset mails to one address' })
    await expect.poll(() => row.evaluate((cell) => Math.abs(cell.getBoundingClientRect().top - 450))).toBeLessThan(100)
    await page.locator('#search').fill('upload limit')
    const upload = page.locator('#results a', { hasText: 'Upload an image' })
    expect(await upload.locator('mark').textContent()).toBe('Limit')
    await page.locator('#search').fill('<b>nothing</b>')
    await page.getByText('Nothing found.').waitFor()
    await page.locator('#search').fill('')
    expect(await page.locator('#list').isVisible()).toBe(true)
  })

  it('moves between the search and its results with the arrow keys, and opens one at its first match', async () => {
    const { page } = await open('/docs')
    const focused = () =>
      page.evaluate(() => document.activeElement?.getAttribute('href') ?? document.activeElement?.id)
    await page.locator('#search').fill('pagesFinished')
    const second = await page.locator('#results a').nth(1).getAttribute('href')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe(second)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    expect(await focused()).toBe('search')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).hash).toBe('#getStats')
    const field = page.locator('#getStats .field code', { hasText: /^pagesFinished$/ }).first()
    await expect.poll(() => field.isVisible()).toBe(true)
  })

  it('has targets of at least 24 pixels, or with as much space around them', async () => {
    const page = await browser.newPage({ bypassCSP: true, viewport: { width: 390, height: 800 } })
    page.setDefaultTimeout(PAGE_TIMEOUT_MS)
    await page.goto(`${service.base}/docs`)
    await page.evaluate(readFileSync('node_modules/axe-core/axe.min.js', 'utf8'))
    for (const part of ['.bar', '#overview', '#first-steps', '#registerBook', '#getStats']) {
      const run = `axe.run('${part}', { runOnly: { type: 'rule', values: ['target-size'] } })`
      const { violations, passes } = (await page.evaluate(run)) as AxeResults
      expect(passes.length, part).toBe(1)
      expect(
        violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)),
        part,
      ).toEqual([])
    }
  })

  it('copies the first steps', async () => {
    const { page } = await open('/docs')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('#first-steps .copy').click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`curl -X POST '${service.base}/join'`)
  })

  it('copies samples in the chosen language, with its own origin and the token', async () => {
    const { page } = await open('/docs#registerBook')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const samples = page.locator('#registerBook .sample').first()
    const copy = async () => {
      await samples.locator('.copy').click()
      return page.evaluate(() => navigator.clipboard.readText())
    }
    expect(await samples.locator('.language').allTextContents()).toEqual(['curl', 'fetch', 'typed client'])
    expect(await copy()).toContain(`curl -X POST '${service.base}/books' \\\n  -H "Authorization: Bearer $TOKEN"`)

    await page.getByRole('button', { name: 'Token' }).click()
    await page.getByRole('textbox', { name: 'Token' }).fill('Bearer rl_abc')
    await page.getByRole('button', { name: 'Use' }).click()
    expect(await copy()).toMatch(/^TOKEN='rl_abc'\ncurl /)
    await samples.getByText('typed client').click()
    expect(await copy()).toMatch(/^import .*\n\nconst token = 'rl_abc'\nconst api = hc<Api>/)
    await page.goto(`${service.base}/docs#getBook`)
    expect(await page.locator('#getBook pre[data-language=curl]').isVisible()).toBe(false)
    expect(await page.locator('#getBook pre[data-language="typed client"]').isVisible()).toBe(true)
  })

  it('fills in the form that signs up from the address of an invitation', async () => {
    const { page, problems } = await open('/docs#invitation?code=123456789012&email=mina%40example.com')
    const form = page.locator('#signUp textarea')
    expect(await form.isVisible()).toBe(true)
    expect(JSON.parse(await form.inputValue())).toEqual({
      email: 'mina@example.com',
      name: '',
      password: '',
      authenticationCode: '123456789012',
    })
    expect(problems).toEqual([])
  })

  it('keeps the theme that was chosen', async () => {
    const { page } = await open('/docs')
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(await background()).toBe('rgb(255, 255, 255)')
    await page.locator('#theme').click()
    await page.reload()
    expect(await background()).toBe('rgb(28, 32, 34)')
  })

  it('calls as the member after login, until it is reloaded', async () => {
    const { page, problems } = await open('/docs')
    expect((await tryOut(page, 'getProfile')).status).toBe('401')
    await page.locator('#getProfile .answer a', { hasText: 'Log in' }).click()
    expect(await page.locator('#logIn textarea').isVisible()).toBe(true)
    expect((await tryOut(page, 'signUp', { ...MEMBER, ...PROFILE })).status).toBe('201')
    expect((await tryOut(page, 'logIn', MEMBER)).status).toBe('200')
    await page.getByText(`Logged in as ${MEMBER.email}.`).waitFor()

    const registered = await tryOut(page, 'registerBook')
    expect(registered).toEqual({ status: '201', text: expect.stringContaining('"bookId": 1') })
    const listed = await tryOut(page, 'listAbandoned')
    expect(listed).toEqual({ status: '200', text: expect.stringContaining('"totalElements": 0') })
    expect((await tryOut(page, 'uploadMemoImage', Buffer.from(PNG, 'base64'))).status).toBe('201')
    expect((await tryOut(page, 'drawYear')).status).toBe('200')
    const drawn = page.locator('#drawYear .answer img')
    await expect.poll(() => drawn.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0)
    expect(problems).toEqual([])

    expect(await page.evaluate(() => Object.keys(localStorage).length + Object.keys(sessionStorage).length)).toBe(0)
    await page.reload()
    await page.getByText('Not logged in.').waitFor()
  })

  it('forgets the token when the member withdraws', async () => {
    const { page } = await open('/docs')
    const leaver = { ...MEMBER, email: 'leaver@example.com' }
    await tryOut(page, 'signUp', { ...leaver, ...PROFILE })
    await tryOut(page, 'logIn', leaver)
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.message())
      return asked.length === 1 ? dialog.dismiss() : dialog.accept()
    })
    await page.locator('#withdraw .try summary').click()
    await page.locator('#withdraw').getByRole('button', { name: 'Send' }).click()
    expect((await tryOut(page, 'getProfile')).status).toBe('200')
    expect((await tryOut(page, 'withdraw')).status).toBe('204')
    expect(asked).toEqual(Array(2).fill('Delete the account and everything in it?'))
    await page.getByText('Not logged in.').waitFor()
  })

  it('marks what is in view, and stays there when the bar gets the focus', async () => {
    const { page } = await open('/docs#getBook')
    await page.locator('#list a[aria-current=true]', { hasText: 'Get a book with its memos' }).waitFor()
    await page.locator('#theme').focus()
    await page.keyboard.press('Shift+Tab')
    expect(await page.locator('[popovertarget=token]:focus').count()).toBe(1)
    expect(await topOf(page, 'getBook')).toBeCloseTo(68, -1)
  })

  it('works with the keyboard alone, and shows the focus', async () => {
    const { page } = await open('/docs')
    const isFocused = (selector: string) => page.locator(`#checkHealth ${selector}:focus`).count()
    const tabTo = async (selector: string) => {
      for (let pressed = 0; pressed < 20; pressed++) {
        await page.keyboard.press('Tab')
        if (await isFocused(selector)) return
      }
      throw new Error(`Tab does not reach ${selector}`)
    }
    await page.keyboard.press('Tab')
    await page.keyboard.press('/')
    await page.keyboard.type('checkHealth')
    await page.keyboard.press('Enter')
    await tabTo('.try summary')
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineWidth)
    expect(outline).toBe('3px')
    await page.keyboard.press('Enter')
    await tabTo('button')
    await page.keyboard.press('Enter')
    await page.locator('#checkHealth .response').getByText('"status": "ok"').waitFor()
  })
})

describe('the search of /docs', () => {
  let page: Page
  beforeAll(async () => {
    page = (await open('/docs')).page
  })

  it.each([
    ['login', 'logIn'],
    ['sign up', 'signUp'],
    ['add book', 'registerBook'],
    ['barcode', 'lookUpIsbn'],
    ['isbn', 'lookUpIsbn'],
    ['photo', 'uploadMemoImage'],
    ['upload image', 'uploadMemoImage'],
    ['book cover', 'getBook'],
    ['pagination', 'pages'],
    ['wish list', 'listLibrary'],
    ['stars', 'updateBook'],
    ['reading progress', 'addProgress'],
    ['tags', 'listTags'],
    ['search books', 'searchBooks'],
    ['quote', 'getMemo'],
    ['delete account', 'withdraw'],
    ['forgot password', 'requestPasswordReset'],
    ['change email', 'requestEmailChange'],
    ['rate limit', 'limits'],
    ['error codes', 'errors'],
    ['offline sync', 'sync'],
    ['goodreads', 'startImport'],
    ['backup', 'exportLibrary'],
    ['statistics', 'getStats'],
    ['yearly goal', 'setGoal'],
    ['share', 'createLink'],
    ['rss', 'showLink'],
    ['undo delete', 'restore'],
    ['api key', 'createToken'],
    ['duplicate books', 'mergeBooks'],
  ])('shows for “%s” #%s among the first three', async (words, id) => {
    await page.locator('#search').fill(words)
    const found = await page
      .locator('#results a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
    expect(found.slice(0, 3)).toContain(`#${id}`)
  })
})

describe('/docs with an open operation', () => {
  let page: Page
  beforeAll(async () => {
    page = (await open('/docs#getBook')).page
    await tryOut(page, 'getBook')
  })

  it.each([
    [360, 'light', 'rgb(255, 255, 255)'],
    [360, 'dark', 'rgb(28, 32, 34)'],
    [1280, 'light', 'rgb(255, 255, 255)'],
    [1280, 'dark', 'rgb(28, 32, 34)'],
  ] as const)('fits a screen of %i pixels in %s mode', async (width, colorScheme, background) => {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    const shown = await page.evaluate(() => ({
      overflow: document.documentElement.scrollWidth - window.innerWidth,
      background: getComputedStyle(document.body).backgroundColor,
    }))
    expect(shown).toEqual({ overflow: 0, background })
  })

  it('shows the contents of a narrow screen on demand', async () => {
    await page.setViewportSize({ width: 360, height: 800 })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('#list').getByText('Register a book').click()
    await expect.poll(() => topOf(page, 'registerBook')).toBeCloseTo(68, -1)
    expect(await page.locator('#list').isVisible()).toBe(false)
  })
})

/** Serves a page of another origin that exports modules to `window`, by their paths. Returns its address. */
const serveClient = async (modules: Record<string, string> = {}) => {
  const scripts = Object.keys(modules).map(
    (path) => `<script type="module">import * as all from '${path}'; Object.assign(window, all)</script>`,
  )
  const page = `<!doctype html><title>Client</title><body></body>${scripts.join('')}`
  const client = createServer(({ url = '' }, response) => {
    const file = modules[url]
    response.writeHead(200, { 'Content-Type': file ? 'text/javascript' : 'text/html' })
    response.end(file ? stripTypeScriptTypes(readFileSync(file, 'utf8')) : page)
  })
  await new Promise<void>((resolve) => client.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void client.close())
  return `http://127.0.0.1:${(client.address() as AddressInfo).port}`
}

it('a page of another origin uploads an image and shows it without a token', async () => {
  const page = await browser.newPage()
  await page.goto(await serveClient())
  const uploaded = await page.evaluate(
    async ([base, png]) => {
      const send = (path: string, init: RequestInit) =>
        fetch(base + path, { ...init, method: 'POST', credentials: 'include' })
      const post = (path: string, body: object) =>
        send(path, { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
      const member = { email: 'browser@example.com', password: 'read-more-1' }
      await post('/join', { ...member, name: 'Browser', authenticationCode: '000000' })
      const token = (await post('/login', member)).headers.get('Authorization') ?? ''
      const form = new FormData()
      form.append('file', new Blob([Uint8Array.from(atob(png), (char) => char.charCodeAt(0))]), 'page.png')
      const headers = { Authorization: token }
      const answer = await send('/memos/image-memo', { headers, body: form })
      return { status: answer.status, location: answer.headers.get('Location'), body: await answer.json() }
    },
    [service.base, PNG] as const,
  )
  expect(uploaded).toMatchObject({ status: 201, location: uploaded.body })

  const size = await page.evaluate(async (src) => {
    const image = document.createElement('img')
    image.src = src
    document.body.append(image)
    await image.decode()
    return [image.naturalWidth, image.naturalHeight]
  }, uploaded.body)
  expect(size).toEqual([2, 1])
})

describe('the offline client', () => {
  let origin: string
  beforeEach(async () => {
    origin = await serveClient({
      '/offline-client.js': 'docs/offline-client.ts',
      '/offline-shape.ts': 'docs/offline-shape.ts',
      '/indexed-db-store.js': 'docs/indexed-db-store.ts',
    })
  })

  /** Adds a member. Returns a function that sends requests as the member, and the token. */
  const signUp = async (email: string) => {
    const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
      const type = { 'Content-Type': 'application/json' }
      const sent = { method, headers: { ...headers, ...(body && type) }, body: JSON.stringify(body) }
      return fetch(service.base + path, sent)
    }
    const member = { email, password: 'read-more-1' }
    await send('POST', '/join', { ...member, name: 'Offline', authenticationCode: '000000' })
    const Authorization = (await send('POST', '/login', member)).headers.get('Authorization') ?? ''
    const request = async (method: string, path: string, body?: object) =>
      (await send(method, path, body, { Authorization })).json()
    return { request, token: Authorization.replace('Bearer ', '') }
  }

  /** Opens a tab with the client, which lies in `app`. Each context is a device. */
  const openTab = async (context: BrowserContext, token: string) => {
    const page = await context.newPage()
    await page.goto(origin)
    const app = await page.evaluateHandle(
      async ([url, token]) => {
        const { createClient, openStore } = window as unknown as Modules
        const store = await openStore('library')
        return createClient({ url, token: () => token, store, fetch: (path, init) => fetch(path, init) })
      },
      [service.base, token] as const,
    )
    return { page, app }
  }
  const openContext = async () => {
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    return context
  }

  it('keeps writes in IndexedDB, and two tabs send them once', async () => {
    const { request, token } = await signUp('offline@example.com')
    const context = await openContext()
    const first = await openTab(context, token)
    await first.app.evaluate((app) => app.sync())
    await context.setOffline(true)
    const isRefused = await first.app.evaluate(async (app, png) => {
      const book = await app.create('book', { title: 'Demian' })
      const image = await app.addImage(new Blob([Uint8Array.from(atob(png), (char) => char.charCodeAt(0))]))
      await app.create('memo', { memoBookPage: 1, memoContent: `A thought ${image}` }, book)
      const [memo] = await app.list('memo')
      if (memo) await app.update(memo, { memoContent: `edited ${image}` })
      return app.sync().then(
        () => false,
        () => true,
      )
    }, PNG)
    expect(isRefused).toBe(true)
    await first.page.close()

    await context.setOffline(false)
    const sent: string[] = []
    context.on('request', (request) => sent.push(request.method()))
    const tabs = [await openTab(context, token), await openTab(context, token)]
    const readMemos = () => tabs[1]?.app.evaluate((app) => app.list('memo'))
    const edited = (address: string) => ({ memoContent: expect.stringMatching(`^edited ${address}`) })
    expect(await readMemos()).toMatchObject([{ id: expect.any(String), value: edited('offline-image:') }])
    await Promise.all(tabs.map(({ app }) => app.evaluate((app) => app.sync())))
    expect(sent.filter((method) => method !== 'GET' && method !== 'OPTIONS')).toEqual(['POST', 'POST', 'POST', 'PATCH'])
    expect(await readMemos()).toMatchObject([{ id: 1, value: edited(service.base) }])
    expect(await request('GET', '/books')).toMatchObject({ item: [{ title: 'Demian', memoCount: 1 }] })
  })

  /** Two devices, both off line, that have a book with a memo and a tag. */
  const openDevices = async (email: string) => {
    const member = await signUp(email)
    const { bookId } = await member.request('POST', '/books', { title: 'Demian' })
    await member.request('POST', `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'A thought' })
    await member.request('PUT', `/books/${bookId}/tags`, { tags: ['Sea'] })
    const open = async () => {
      const context = await openContext()
      const { app } = await openTab(context, member.token)
      await app.evaluate((app) => app.sync())
      await context.setOffline(true)
      const sync = async () => {
        await context.setOffline(false)
        await app.evaluate((app) => app.sync())
      }
      return { app, sync }
    }
    return { ...member, bookId, here: await open(), there: await open() }
  }

  it('keeps a book that is deleted on one device while another adds notes to it', async () => {
    const { here, there, request, bookId } = await openDevices('deletes@example.com')
    await here.app.evaluate(async (app) => {
      for (const book of await app.list('book')) await app.remove(book)
    })
    expect(await here.app.evaluate((app) => app.list('memo'))).toEqual([])
    await there.app.evaluate(async (app) => {
      const [book] = await app.list('book')
      for (const memoContent of ['one', 'two', 'three'])
        await app.create('memo', { memoBookPage: 2, memoContent }, book?.id)
    })
    await there.sync()
    await here.sync()
    expect(await here.app.evaluate((app) => app.kept())).toMatchObject([
      { method: 'DELETE', kind: 'book', answer: { status: 412, body: { value: { memoContent: 'one' } } } },
    ])
    const shown = await here.app.evaluate(async (app) => [await app.list('book'), await app.list('memo')])
    expect(shown).toMatchObject([[{ id: bookId }], [{}, {}, {}, {}]])
    expect((await request('GET', `/books/${bookId}?memoAuthority=ALL`)).memosList).toHaveLength(4)
  })

  it('keeps the tags that two devices add to one book', async () => {
    const { here, there, request, bookId } = await openDevices('tags@example.com')
    await here.app.evaluate(async (app) => {
      const [book] = await app.list('book')
      if (book) await app.setTags(book, ['Lamp'])
    })
    await there.app.evaluate(async (app) => {
      const [book] = await app.list('book')
      if (book) await app.setTags(book, ['Sea', 'Salt'])
    })
    for (const device of [here, there, here]) await device.sync()
    expect(await request('GET', `/books/${bookId}/tags`)).toEqual({ tags: ['Lamp', 'Salt'] })
    for (const { app } of [here, there]) {
      expect(await app.evaluate((app) => app.list('book'))).toMatchObject([{ value: { tags: ['Lamp', 'Salt'] } }])
      expect(await app.evaluate((app) => app.kept())).toEqual([])
    }
  })
})
