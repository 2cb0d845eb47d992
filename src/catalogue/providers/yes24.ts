import * as z from 'zod/mini'
import type { Config } from '../../env'
import { ApiError } from '../../errors'
import { log } from '../../runtime/log'
import type { Provider } from '../schema'
import { fetchJson } from '../upstream'
import { cleanEntries } from './clean-entries'

// YES24 Open API: at most 5 requests a second and 5,000 a day. An empty result is a 404 with its own error code.
const HOST = 'https://apis.yes24.com'
const ALL_BOOKS = '001'
const EMPTY_RESULT_CODES = ['SEARCH_001', 'BEST_001', 'ATTN_001']

const ItemList = z.lazy(() =>
  z.object({
    success: z.boolean(),
    errorCode: z.nullish(z.string()),
    data: z.nullish(z.object({ items: z.array(z.looseObject({})) })),
  }),
)

const list = async (key: string, path: string, parameters: Record<string, string>) => {
  const url = new URL(path, HOST)
  url.search = new URLSearchParams({ ...parameters, page: '1', pageSize: '10', detail: 'Y' }).toString()
  const response = await fetchJson({ url, headers: { 'X-Api-Key': key }, schema: ItemList, otherStatuses: [404] })
  if (response.success && response.data)
    return cleanEntries(response.data.items.map((item) => ({ ...item, itemPage: item.pages })))
  if (EMPTY_RESULT_CODES.includes(response.errorCode ?? '')) return []
  log('warn', `catalogue: error ${response.errorCode}`)
  throw new ApiError('CATALOGUE_FAILED')
}

export const yes24 = ({ YES24_API_KEY: key = '' }: Config): Provider => ({
  search: (query) => list(key, '/v1/goods/itemList', { query, category: 'BOOK', sort: 'RELATION' }),
  bestSellers: () => list(key, '/v1/category/bestseller', { categoryId: ALL_BOOKS }),
  newSpecial: () => list(key, '/v1/category/newproductAttention', { categoryId: ALL_BOOKS }),
})
