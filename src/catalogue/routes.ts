import type { Context } from 'hono'
import { networkOf } from '../callers/origin'
import { throttledByNetwork } from '../callers/throttle'
import type { App } from '../env'
import { Hono } from '../http/hono'
import { valid } from '../input/validate'
import { getCached, LISTS } from './cache'
import { SearchPath } from './schema'
import { countSearch, providerOf, toEntry } from './store'

const LISTS_MAX_AGE = 'public, max-age=600'
const SEARCH_MAX_AGE = 'public, max-age=300'

const sendList = async (c: Context<App>, name: 'bestSellers' | 'newSpecial') => {
  const provider = providerOf(c.var.config, c.env)
  const entries = await getCached({
    ...LISTS,
    kv: c.env.CATALOGUE,
    key: `catalogue:${c.var.config.CATALOGUE_PROVIDER}:${name}`,
    load: provider[name],
    waitUntil: (promise) => c.executionCtx.waitUntil(promise),
  })
  return c.json(entries.map(toEntry), 200, { 'Cache-Control': LISTS_MAX_AGE })
}

export const catalogue = new Hono<App>()
  .get('/best-seller', throttledByNetwork, (c) => sendList(c, 'bestSellers'))
  .get('/item-new-special', throttledByNetwork, (c) => sendList(c, 'newSpecial'))
  .get(
    // The rest of the path, slashes included. The typed client and the OpenAPI document see only its name.
    '/:title-or-author{[^]*}' as '/:title-or-author',
    throttledByNetwork,
    valid('param', SearchPath),
    async (c) => {
      const { db, config } = c.var
      if (config.CATALOGUE_PROVIDER !== 'sample') await countSearch(db, config, networkOf(c))
      const entries = await providerOf(config, c.env).search(c.req.valid('param')['title-or-author'])
      return c.json(entries.map(toEntry), 200, { 'Cache-Control': SEARCH_MAX_AGE })
    },
  )
