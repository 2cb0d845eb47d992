import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { drawYear } from '../../src/library/stats/picture/draw'
import { YEARS } from '../support/stats/years'
import { launch } from './launch.ts'

let browser: Browser
let page: Page
beforeAll(async () => {
  browser = await launch()
  page = await browser.newPage()
})
afterAll(() => browser?.close())

/** Shows a picture in three widths. Returns its texts that are cut or overlap, and what a picture should not contain. */
const findFaults = (svg: string) =>
  page.evaluate((markup) => {
    const drawn = new DOMParser().parseFromString(markup, 'image/svg+xml').documentElement
    document.body.replaceChildren(drawn)
    const faults: string[] = []
    for (const element of drawn.querySelectorAll('*')) {
      const attributes = element.getAttributeNames().filter((name) => /^on|href|style/.test(name))
      const isKnown = /^(svg|title|rect|path|text)$/.test(element.nodeName)
      if (!isKnown || attributes.length) faults.push(`has ${element.nodeName} ${attributes}`)
    }
    // Chromium rounds the height of a line to whole pixels.
    const isInside = (one: DOMRect, other: DOMRect) =>
      one.left >= other.left && one.right <= other.right && one.top >= other.top - 1 && one.bottom <= other.bottom + 1
    const overlaps = (one: DOMRect, other: DOMRect) =>
      one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
    const texts = [...drawn.querySelectorAll('text')].map((text) => {
      // The title of a spine follows its rectangle, or that and its bands.
      const before = text.previousElementSibling
      const spine = before?.nodeName === 'path' ? before.previousElementSibling : before
      return { name: text.textContent, text, holder: text.parentElement === drawn ? drawn : spine }
    })
    drawn.removeAttribute('height')
    for (const width of [400, 800, 1600]) {
      drawn.setAttribute('width', String(width))
      const placed = texts.map(({ text, ...rest }) => ({ ...rest, box: text.getBoundingClientRect() }))
      for (const [index, { name, box, holder }] of placed.entries()) {
        if (!holder || !isInside(box, holder.getBoundingClientRect())) faults.push(`${width}: ${name} is cut`)
        const others = placed.slice(index + 1).filter((other) => overlaps(box, other.box))
        faults.push(...others.map((other) => `${width}: ${name} overlaps ${other.name}`))
      }
    }
    return { faults, texts: texts.length }
  }, svg)

it.each(Object.entries(YEARS))('shows all texts whole and apart: %s', async (_, year) => {
  for (const size of ['card', 'page'] as const) {
    const { faults, texts } = await findFaults(drawYear(year, { theme: 'light', size }))
    expect(faults, size).toEqual([])
    // The year, three figures with labels, twelve months and the note.
    expect(texts).toBeGreaterThanOrEqual(20)
  }
})
