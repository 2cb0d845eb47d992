import * as z from 'zod'
import type { Config } from '../../env'
import { ApiError } from '../../http/errors'
import { log } from '../../http/log'
import type { Provider } from '../provider'
import { ask } from '../upstream'
import { toEntries } from './entry'

// YES24 Open API: at most 5 requests a second and 5,000 a day; what is not found is a 404 with a code of its own.
const HOST = 'https://apis.yes24.com'
const ALL_BOOKS = '001'
const NOTHING_FOUND = ['SEARCH_001', 'BEST_001', 'ATTN_001']

const Answer = z.object({
  success: z.boolean(),
  errorCode: z.string().nullish(),
  data: z
    .object({
      items: z.array(
        z.object({
          title: z.unknown().optional(),
          author: z.unknown().optional(),
          publisher: z.unknown().optional(),
          cover: z.unknown().optional(),
          pages: z.unknown().optional(),
        }),
      ),
    })
    .nullish(),
})

const list = async (key: string, path: string, parameters: Record<string, string>) => {
  const url = new URL(path, HOST)
  url.search = new URLSearchParams({ ...parameters, page: '1', pageSize: '10', detail: 'Y' }).toString()
  const answer = await ask({ url, headers: { 'X-Api-Key': key }, schema: Answer, alsoAnswers: [404] })
  if (answer.success && answer.data)
    return toEntries(answer.data.items.map((item) => ({ ...item, itemPage: item.pages })))
  if (NOTHING_FOUND.includes(answer.errorCode ?? '')) return []
  log('warn', `catalogue: error ${answer.errorCode}`)
  throw new ApiError('CATALOGUE_FAILED')
}

export const yes24 = ({ YES24_API_KEY: key = '' }: Config): Provider => ({
  search: (query) => list(key, '/v1/goods/itemList', { query, category: 'BOOK', sort: 'RELATION' }),
  bestSellers: () => list(key, '/v1/category/bestseller', { categoryId: ALL_BOOKS }),
  newSpecial: () => list(key, '/v1/category/newproductAttention', { categoryId: ALL_BOOKS }),
})
