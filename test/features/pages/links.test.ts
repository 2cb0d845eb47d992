/// <reference types="vite/types/importMeta.d.ts" />
import { expect, it } from 'vitest'

const found = import.meta.glob<string>(['../../../*.md', '../../../docs/**/*.md', '../../README.md'], {
  query: '?raw',
  import: 'default',
  eager: true,
})
const pages = new Map(
  Object.entries(found).map(([path, page]) => [new URL(path, 'file:///test/features/pages/').pathname, page]),
)

/** The anchors that GitHub gives to the headings of a page. */
const anchorsOf = (page: string) =>
  [...page.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )

it.each([...pages])('%s links to pages and headings that exist', (path, page) => {
  const links = [...page.matchAll(/\]\(((?!https?:)[^)#]*)(?:#([^)]*))?\)/g)]
  const broken = links.filter(([, file = '', anchor]) => {
    if (file && !file.endsWith('.md')) return false
    const target = pages.get(new URL(file || path, `file://${path}`).pathname)
    return target === undefined || (anchor !== undefined && !anchorsOf(target).includes(anchor))
  })
  expect(broken.map(([link]) => link)).toEqual([])
})
