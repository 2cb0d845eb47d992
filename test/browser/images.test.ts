import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService } from '../support/dev-server.ts'
import { launchChromium } from './chromium.ts'

// A 2 × 1 picture, red and blue.
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4zwAE/wEHAAH/4iOeWQAAAABJRU5ErkJggg=='

let service: Awaited<ReturnType<typeof startService>>
let browser: Browser
let client: Server
beforeAll(async () => {
  service = await startService()
  browser = await launchChromium()
  // A page of a client, on another origin.
  client = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Client</title><body></body>')
  })
  await new Promise<void>((resolve) => client.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await browser?.close()
  client?.close()
  await service?.stop()
})

const open = async () => {
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(client.address() as AddressInfo).port}/`)
  return page
}

it('a page of another origin uploads an image and shows it without a token', async () => {
  const page = await open()
  const url = await page.evaluate(
    async ([base, png]) => {
      const post = (path: string, body: object) =>
        fetch(base + path, {
          method: 'POST',
          credentials: 'include',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        })
      const member = { email: 'browser@example.com', password: 'read-more-1' }
      await post('/join', { ...member, name: 'Browser', authenticationCode: '000000' })
      const token = (await post('/login', member)).headers.get('Authorization') ?? ''
      const form = new FormData()
      form.append('file', new Blob([Uint8Array.from(atob(png), (char) => char.charCodeAt(0))]), 'page.png')
      const init = { method: 'POST', credentials: 'include' as const, headers: { Authorization: token }, body: form }
      const uploaded = await fetch(`${base}/memos/image-memo`, init)
      return { status: uploaded.status, location: uploaded.headers.get('Location'), body: await uploaded.json() }
    },
    [service.base, PNG] as const,
  )
  expect(url.status).toBe(201)
  expect(url.location).toBe(url.body)

  const size = await page.evaluate(async (src) => {
    const image = document.createElement('img')
    image.src = src
    document.body.append(image)
    await image.decode()
    return [image.naturalWidth, image.naturalHeight]
  }, url.body)
  expect(size).toEqual([2, 1])
})
