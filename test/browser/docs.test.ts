import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService } from '../support/dev-server.ts'
import { launchChromium } from './chromium.ts'

let service: Awaited<ReturnType<typeof startService>>
let browser: Browser
beforeAll(async () => {
  service = await startService()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

/** Opens a page and collects the errors in its console and its requests to other origins. */
const open = async (path: string, options: Parameters<Browser['newPage']>[0] = {}) => {
  const page = await browser.newPage(options)
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

const operation = (page: Page, name: string) => page.locator(`#operations-${name}`)

/** Executes an operation with a body or file. Returns the status of the answer. */
const tryOut = async (page: Page, name: string, body?: object | Buffer) => {
  const block = operation(page, name)
  if ((await block.getAttribute('class'))?.includes('is-open') === false) {
    await block.locator('.opblock-summary-control').click()
  }
  await block.locator('.try-out__btn').click()
  if (Buffer.isBuffer(body)) {
    await block.locator('input[type=file]').setInputFiles({ name: 'page.gif', mimeType: 'image/gif', buffer: body })
  } else if (body) await block.locator('.body-param__text').fill(JSON.stringify(body))
  await block.locator('.execute').click()
  const answer = block.locator('.live-responses-table .response-col_status')
  await answer.nth(1).waitFor()
  return { status: (await answer.nth(1).textContent())?.trim(), block }
}

// A GIF of one pixel.
const PICTURE = Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64')
const MEMBER = { email: 'page@example.com', password: 'read-more-1' }

describe('/docs', () => {
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
    await page.close()
  })

  it('calls as the member after login, until it is reloaded', async () => {
    const { page, problems } = await open('/docs')
    expect((await tryOut(page, 'Members-getProfile')).status).toBe('401')
    const joined = await tryOut(page, 'Members-signUp', { ...MEMBER, name: 'Page', authenticationCode: '000000' })
    expect(joined.status).toBe('201')
    expect((await tryOut(page, 'Members-logIn', MEMBER)).status).toBe('200')
    await page.getByText(`Logged in as ${MEMBER.email}.`).waitFor()

    const registered = await tryOut(page, 'Books-registerBook')
    expect(registered.status).toBe('201')
    expect(await registered.block.locator('.live-responses-table').textContent()).toContain('"bookId": 1')
    const listed = await tryOut(page, 'Books-listAbandoned')
    expect(listed.status).toBe('200')
    expect(await listed.block.locator('.live-responses-table').textContent()).toContain('"totalElements": 0')
    expect((await tryOut(page, 'Memos-uploadMemoImage', PICTURE)).status).toBe('201')
    expect(problems).toEqual([])

    expect(await page.evaluate(() => Object.keys(localStorage).length + Object.keys(sessionStorage).length)).toBe(0)
    await page.reload()
    await page.getByText('Not logged in.').waitFor()
    await page.close()
  })

  it('forgets the token when the member withdraws', async () => {
    const { page } = await open('/docs')
    const leaver = { email: 'leaver@example.com', password: 'read-more-1' }
    await tryOut(page, 'Members-signUp', { ...leaver, name: 'Leaver', authenticationCode: '000000' })
    await tryOut(page, 'Members-logIn', leaver)
    expect((await tryOut(page, 'Members-withdraw')).status).toBe('204')
    await page.getByText('Not logged in.').waitFor()
    await page.close()
  })

  it('works with the keyboard alone, and shows the focus', async () => {
    const { page } = await open('/docs')
    const focused = () => page.evaluate(() => document.activeElement?.className ?? '')
    const within = () => page.evaluate(() => document.activeElement?.closest('.opblock')?.id ?? '')
    /** Presses Tab until an element of the class has the focus, inside the operation. */
    const tabTo = async (name: string, block: string) => {
      for (let pressed = 0; pressed < 150; pressed++) {
        await page.keyboard.press('Tab')
        if ((await focused()).includes(name) && (await within()) === block) return
      }
      throw new Error(`Tab does not reach ${name}`)
    }
    const health = 'operations-Health-checkHealth'
    await tabTo('opblock-summary-control', health)
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineWidth)
    expect(outline).toBe('3px')
    await page.keyboard.press('Enter')
    await tabTo('try-out__btn', health)
    await page.keyboard.press('Enter')
    await tabTo('execute', health)
    await page.keyboard.press('Enter')
    const answer = page.locator(`#${health} .live-responses-table`)
    await answer.waitFor()
    expect(await answer.textContent()).toContain('"status": "ok"')
    await page.close()
  })

  it.each([
    [360, 'light'],
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('fits a screen of %i pixels in %s mode', async (width, colorScheme) => {
    const { page } = await open('/docs#/Books/getBook', { viewport: { width, height: 800 }, colorScheme })
    await tryOut(page, 'Books-getBook')
    const shown = await page.evaluate(() => ({
      overflow: document.documentElement.scrollWidth - window.innerWidth,
      background: getComputedStyle(document.body).backgroundColor,
    }))
    expect(shown).toEqual({
      overflow: 0,
      background: colorScheme === 'dark' ? 'rgb(28, 32, 34)' : 'rgb(255, 255, 255)',
    })
    await page.close()
  })
})
