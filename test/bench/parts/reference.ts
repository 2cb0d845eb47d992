// When the first operation of the API reference is readable in Chromium on a slow device: this page, and two libraries that
// show the same document.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'
import { median } from '../../support/service/http-client.ts'

const SLOWDOWN = 4
const FOLDER = 'dist/bench/reference'

type Page = { html: string; files: Record<string, string>; selector: string }
export type PageSpeed = { readableMs: number; bytes: number }

/** Downloads a package without its dependencies. Returns its folder. */
const unpack = (name: string) => {
  const folder = join(FOLDER, name.replace(/\W+/g, '-'))
  if (existsSync(folder)) return folder
  mkdirSync(FOLDER, { recursive: true })
  const archive = execFileSync('npm', ['pack', '--silent', '--pack-destination', FOLDER, name], { encoding: 'utf8' })
  mkdirSync(folder)
  execFileSync('tar', ['xzf', join(FOLDER, archive.trim()), '-C', folder, '--strip-components', '1'])
  return folder
}

const own = (): Page => {
  const folder = 'dist/assets/docs'
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const files = readdirSync(folder).map((file) => [`/docs/${file}`, join(folder, file)])
  return { html, files: Object.fromEntries(files), selector: 'article h3' }
}

const swagger = (): Page => {
  const folder = unpack('swagger-ui-dist@5.35.0')
  const files = { '/page.js': join(folder, 'swagger-ui-bundle.js'), '/page.css': join(folder, 'swagger-ui.css') }
  const start = "SwaggerUIBundle({ url: '/openapi.json', dom_id: '#page', layout: 'BaseLayout', deepLinking: true })"
  const head = '<link rel="stylesheet" href="/page.css"><script src="/page.js"></script>'
  return { html: `${head}<div id="page"></div><script>${start}</script>`, files, selector: '.opblock-summary' }
}

const scalar = (): Page => {
  const files = { '/page.js': join(unpack('@scalar/api-reference@1.72.1'), 'dist/browser/standalone.js') }
  const start =
    "Scalar.createApiReference('#page', { url: '/openapi.json', withDefaultFonts: false, telemetry: false })"
  // It lists the operations of a tag before it shows them.
  const html = `<div id="page"></div><script src="/page.js"></script><script>${start}</script>`
  return { html, files, selector: '[id*="tag/members"]' }
}

const TYPES: Record<string, string> = {
  js: 'text/javascript',
  css: 'text/css',
  json: 'application/json',
  svg: 'image/svg+xml',
}

const serve = async ({ html, files }: Page) => {
  const answers = new Map([['/', gzipSync(`<!doctype html><meta charset="utf-8">${html}`)]])
  const all = { ...files, '/openapi.json': 'docs/openapi.json' }
  for (const [path, file] of Object.entries(all)) answers.set(path, gzipSync(readFileSync(file)))
  const server = createServer(({ url = '' }, response) => {
    const type = TYPES[url.split('.').at(-1) ?? ''] ?? 'text/html'
    response.writeHead(answers.has(url) ? 200 : 404, { 'Content-Type': type, 'Content-Encoding': 'gzip' })
    response.end(answers.get(url) ?? gzipSync(''))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** A script that marks when an element has been drawn: in the frame after the first one that has it. */
const watchFor = (selector: string) => `const check = () => {
  const isShown = document.querySelector('${selector}')?.getBoundingClientRect().height > 0
  requestAnimationFrame(isShown ? () => performance.mark('readable') : check)
}
requestAnimationFrame(check)`

const READ_SPEED = `({
  readableMs: performance.getEntriesByName('readable')[0].startTime,
  bytes: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
})`

const load = async (browser: Browser, page: Page): Promise<PageSpeed> => {
  const server = await serve(page)
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  try {
    const tab = await context.newPage()
    await (await context.newCDPSession(tab)).send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
    await tab.addInitScript(watchFor(page.selector))
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { waitUntil: 'load' })
    await tab.waitForFunction("performance.getEntriesByName('readable').length > 0", null, { timeout: 120_000 })
    return await tab.evaluate<PageSpeed>(READ_SPEED)
  } finally {
    await context.close()
    server.close()
  }
}

/** Loads each page several times, in turn. */
export const measureReference = async (rounds: number, progress: (line: string) => void) => {
  execFileSync('npm', ['run', '--silent', 'assets'], { stdio: 'inherit' })
  const pages = { 'this page': own(), 'Swagger UI': swagger(), Scalar: scalar() }
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  })
  try {
    const loads: Record<string, PageSpeed[]> = {}
    for (let round = 0; round < rounds; round++) {
      for (const [name, page] of Object.entries(pages)) {
        progress(`loading ${name}`)
        loads[name] = [...(loads[name] ?? []), await load(browser, page)]
      }
    }
    return Object.fromEntries(
      Object.entries(loads).map(([name, all]) => {
        const readableMs = median(all.map((each) => each.readableMs))
        return [name, { readableMs, bytes: all[0]?.bytes ?? 0 }]
      }),
    )
  } finally {
    await browser.close()
  }
}
