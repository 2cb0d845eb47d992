import type { Context } from 'hono'
import type { App } from '../env'
import type { Page, Paging } from '../values/paging'
import { sendJson } from './json-stream'

type Query = Paging & Record<string, string | number>

const toLinks = (path: string, { page, ...others }: Query, totalPages: number) => {
  const rest = Object.entries(others)
    .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
    .join('')
  const link = (relation: string, to: number) => `<${path}?page=${to}${rest}>; rel="${relation}"`
  // An empty list has one page, without items.
  const last = Math.max(totalPages, 1)
  const links = [link('first', 1)]
  if (page > 1) links.push(link('prev', Math.min(page - 1, last)))
  if (page < last) links.push(link('next', page + 1))
  links.push(link('last', last))
  return links.join(', ')
}

/** Responds 200 with a page of a list, and with links to the other pages (RFC 8288). */
export const sendPage = <Item>(
  c: Context<App, string, { out: { query: Query } }>,
  page: Omit<Page<Item>, 'item'> & { item: Item[] | AsyncIterable<Item[]> },
) => {
  c.header('Link', toLinks(c.req.path, c.req.valid('query'), page.pageInfo.totalPages))
  return sendJson<Page<Item>>(c, page)
}
