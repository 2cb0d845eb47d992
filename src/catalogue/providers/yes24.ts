import * as z from 'zod/mini'
import type { Config } from '../../env'
import { ApiError } from '../../errors'
import { log } from '../../runtime/log'
import type { Provider } from '../schema'
import { fetchJson } from '../upstream'
import { cleanEditions, type RawEdition } from './clean-editions'

// YES24 Open API: at most 5 requests a second and 5,000 a day. An empty result is a 404 with its own error code.
const HOST = 'https://apis.yes24.com'
const ALL_BOOKS = '001'
const EMPTY_RESULT_CODES = ['SEARCH_001', 'BEST_001', 'ATTN_001', 'GOODS_001', 'GOODS_002']

const ItemList = z.lazy(() =>
  z.object({
    success: z.boolean(),
    errorCode: z.nullish(z.string()),
    data: z.nullish(z.object({ items: z.array(z.looseObject({})) })),
  }),
)

type Item = RawEdition & Record<'pages' | 'subTitle' | 'isbn13' | 'isbn10' | 'itemId', unknown>
const toRawEdition = ({ pages, subTitle, isbn13, isbn10, itemId, ...item }: Item): RawEdition => {
  return { ...item, itemPage: pages, subtitle: subTitle, isbns: [isbn13, isbn10], ids: { yes24: itemId } }
}

const load = async (key: string, path: string, parameters: Record<string, string>) => {
  const url = new URL(path, HOST)
  url.search = new URLSearchParams({ ...parameters, detail: 'Y' }).toString()
  const response = await fetchJson({ url, headers: { 'X-Api-Key': key }, schema: ItemList, otherStatuses: [404] })
  if (response.success && response.data)
    return cleanEditions(response.data.items.map((item) => toRawEdition(item as Item)))
  if (EMPTY_RESULT_CODES.includes(response.errorCode ?? '')) return []
  log('warn', `catalogue: error ${response.errorCode}`)
  throw new ApiError('CATALOGUE_FAILED')
}

export const yes24 = ({ YES24_API_KEY: key = '' }: Config): Provider => {
  const list = (path: string, parameters: Record<string, string>) =>
    load(key, path, { ...parameters, page: '1', pageSize: '10' })
  const search = (query: string) => list('/v1/goods/itemList', { query, category: 'BOOK', sort: 'RELATION' })
  return {
    search,
    searchEditions: search,
    findByIsbn: async (isbn) => {
      const items = await load(key, '/v1/goods/itemDetail', { searchType: 'ISBN13', query: isbn })
      return items.filter((item) => item.isbn === isbn).slice(0, 1)
    },
    bestSellers: () => list('/v1/category/bestseller', { categoryId: ALL_BOOKS }),
    newSpecial: () => list('/v1/category/newproductAttention', { categoryId: ALL_BOOKS }),
  }
}
