import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startService } from '../support/service/dev-server.ts'

let service: Awaited<ReturnType<typeof startService>>
let browser: Browser
beforeAll(async () => {
  service = await startService()
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  })
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

/** Opens a page and collects the errors in its console and its requests to other origins. */
const open = async (path: string) => {
  const page = await browser.newPage()
  const problems: string[] = []
  // The console reports every error status; the tests check those themselves.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load')) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('requestfailed', (request) => problems.push(request.url()))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${service.base}/`) && !request.url().startsWith('data:'))
      problems.push(request.url())
  })
  await page.goto(service.base + path)
  await page.locator('.opblock').first().waitFor()
  return { page, problems }
}

/** Executes an operation with a body or file. Returns the status and text of the answer. */
const tryOut = async (page: Page, name: string, body?: object | Buffer) => {
  const block = page.locator(`#operations-${name}`)
  if ((await block.getAttribute('class'))?.includes('is-open') === false) {
    await block.locator('.opblock-summary-control').click()
  }
  await block.locator('.try-out__btn').click()
  if (Buffer.isBuffer(body)) {
    await block.locator('input[type=file]').setInputFiles({ name: 'page.png', mimeType: 'image/png', buffer: body })
  } else if (body) await block.locator('.body-param__text').fill(JSON.stringify(body))
  await block.locator('.execute').click()
  const answer = block.locator('.live-responses-table')
  const status = answer.locator('.response-col_status').nth(1)
  await status.waitFor()
  return { status: (await status.textContent())?.trim(), text: await answer.textContent() }
}

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
    expect(await page.locator('.opblock').count()).toBe(described.length)
    const policy = (await fetch(`${service.base}/docs`)).headers.get('Content-Security-Policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|http|\*/)
    expect(problems).toEqual([])
  })

  it('shows the introduction, and the code samples of an operation', async () => {
    const { page } = await open('/docs#/Books/registerBook')
    await page.locator('#contents').getByText('Errors').click()
    // Scrolling is smooth.
    await expect
      .poll(() => page.locator('#errors').evaluate((heading) => heading.getBoundingClientRect().top), {
        timeout: 10_000,
      })
      .toBeLessThan(50)
    const samples = page.locator('#operations-Books-registerBook .code-samples')
    expect(await samples.locator('summary').allTextContents()).toEqual(['curl', 'fetch'])
    await samples.locator('summary').first().click()
    expect(await samples.locator('pre').first().textContent()).toContain("curl -X POST 'https://")
  })

  it('calls as the member after login, until it is reloaded', async () => {
    const { page, problems } = await open('/docs')
    expect((await tryOut(page, 'Members-getProfile')).status).toBe('401')
    expect((await tryOut(page, 'Members-signUp', { ...MEMBER, ...PROFILE })).status).toBe('201')
    expect((await tryOut(page, 'Members-logIn', MEMBER)).status).toBe('200')
    await page.getByText(`Logged in as ${MEMBER.email}.`).waitFor()

    const registered = await tryOut(page, 'Books-registerBook')
    expect(registered).toEqual({ status: '201', text: expect.stringContaining('"bookId": 1') })
    const listed = await tryOut(page, 'Books-listAbandoned')
    expect(listed).toEqual({ status: '200', text: expect.stringContaining('"totalElements": 0') })
    expect((await tryOut(page, 'Memos-uploadMemoImage', Buffer.from(PNG, 'base64'))).status).toBe('201')
    expect(problems).toEqual([])

    expect(await page.evaluate(() => Object.keys(localStorage).length + Object.keys(sessionStorage).length)).toBe(0)
    await page.reload()
    await page.getByText('Not logged in.').waitFor()
  })

  it('forgets the token when the member withdraws', async () => {
    const { page } = await open('/docs')
    const leaver = { ...MEMBER, email: 'leaver@example.com' }
    await tryOut(page, 'Members-signUp', { ...leaver, ...PROFILE })
    await tryOut(page, 'Members-logIn', leaver)
    expect((await tryOut(page, 'Members-withdraw')).status).toBe('204')
    await page.getByText('Not logged in.').waitFor()
  })

  it('works with the keyboard alone, and shows the focus', async () => {
    const { page } = await open('/docs')
    const health = page.locator('#operations-Health-checkHealth')
    /** Presses Tab until an element of the class has the focus, inside the operation. */
    const tabTo = async (name: string) => {
      for (let pressed = 0; pressed < 400; pressed++) {
        await page.keyboard.press('Tab')
        if (await health.locator(`.${name}:focus`).count()) return
      }
      throw new Error(`Tab does not reach ${name}`)
    }
    await tabTo('opblock-summary-control')
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineWidth)
    expect(outline).toBe('3px')
    await page.keyboard.press('Enter')
    for (const button of ['try-out__btn', 'execute']) {
      await tabTo(button)
      await page.keyboard.press('Enter')
    }
    const answer = health.locator('.live-responses-table')
    await answer.waitFor()
    expect(await answer.textContent()).toContain('"status": "ok"')
  })
})

describe('/docs with an open operation', () => {
  let page: Page
  beforeAll(async () => {
    page = (await open('/docs#/Books/getBook')).page
    await tryOut(page, 'Books-getBook')
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
})

it('a page of another origin uploads an image and shows it without a token', async () => {
  const client = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Client</title><body></body>')
  })
  await new Promise<void>((resolve) => client.listen(0, '127.0.0.1', resolve))
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(client.address() as AddressInfo).port}/`)
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
  client.close()
})
