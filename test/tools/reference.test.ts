import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Document } from '../../scripts/reference/document.ts'
import { renderPage } from '../../scripts/reference/page.ts'

const document: Document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
const page = renderPage(document)
const matchesOf = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, match = '']) => match)

describe('the reference page', () => {
  it('has a target for every link, and each identifier once', () => {
    const ids = matchesOf(/ id="([^"]+)"/g)
    expect(new Set(ids).size).toBe(ids.length)
    expect(matchesOf(/ href="#([^"]+)"/g).filter((id) => !ids.includes(id))).toEqual([])
  })

  it('has the fields and parameters of an operation, and each common header once', () => {
    const [, article = ''] = page.split('<article id="registerBook"')
    const [shown] = article.split('</article>')
    expect(shown).toContain('<code>Idempotency-Key</code>')
    expect(shown).toContain('<code>readStartDate</code>')
    expect(shown).toContain('<code>ING</code>: being read')
    expect(matchesOf(/class="field"><code>(X-Request-Id)</g)).toHaveLength(1)
    expect(matchesOf(/class="field"><code>(X-D1-Bookmark)</g)).toHaveLength(2)
  })

  it('has no scripts, styles or handlers that its policy refuses', () => {
    expect(page).not.toMatch(/<style| style=| on[a-z]+=|<script>|javascript:/)
  })

  it('shows HTML in the document as text, and links only to the web and to itself', () => {
    const hostile = structuredClone(document)
    const text =
      '<script>alert(1)</script>\n\nText <b onclick=x>bold</b> [a](javascript:alert(1)) ![b](https://evil.example/) `</code><i>`'
    hostile.info.description = `${text}\n\n\`\`\`\n</pre><i>\n\`\`\`\n\n## Title <i>\n\n<img src=x>`
    hostile.info.title = '</title><i>'
    for (const operation of Object.values(hostile.paths).flatMap((item) => Object.values(item))) {
      operation.summary = operation.description = text
      for (const response of Object.values(operation.responses)) response.description = text
      for (const sample of operation['x-codeSamples']) sample.source = '</code></pre><i>'
    }
    const rendered = renderPage(hostile)
    expect(rendered).not.toMatch(/<(?:script>|b |i>|img)|href="javascript|src="https/)
    expect(rendered).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })
})
