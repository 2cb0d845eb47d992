import { type Context, Hono } from 'hono'
import { networkOf } from '../callers/origin'
import { throttledByNetwork } from '../callers/throttle'
import type { App, Config } from '../env'
import { valid } from '../input/validate'
import { getCached } from './cache'
import { openLibrary } from './providers/open-library'
import { sample } from './providers/sample'
import { yes24 } from './providers/yes24'
import type { Provider } from './schema'
import { SearchPath } from './schema'
import { countSearch } from './store'

const PROVIDERS: Record<Config['CATALOGUE_PROVIDER'], (config: Config) => Provider> = {
  yes24,
  'open-library': openLibrary,
  sample,
}

const providerOf = (config: Config) => PROVIDERS[config.CATALOGUE_PROVIDER](config)

const LISTS_MAX_AGE = 'public, max-age=600'
const SEARCH_MAX_AGE = 'public, max-age=300'

const sendList = async (c: Context<App>, name: 'bestSellers' | 'newSpecial') => {
  const provider = providerOf(c.var.config)
  const entries = await getCached({
    kv: c.env.CATALOGUE,
    key: `catalogue:${c.var.config.CATALOGUE_PROVIDER}:${name}`,
    load: provider[name],
    waitUntil: (promise) => c.executionCtx.waitUntil(promise),
  })
  return c.json(entries, 200, { 'Cache-Control': LISTS_MAX_AGE })
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
      const entries = await providerOf(config).search(c.req.valid('param')['title-or-author'])
      return c.json(entries, 200, { 'Cache-Control': SEARCH_MAX_AGE })
    },
  )
