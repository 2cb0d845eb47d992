import { canReadLibrary } from '../../callers/authenticated'
import { limitStatistics, statisticsOf } from '../../callers/large-reads'
import type { App } from '../../env'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { toPicture, toStats } from './figures'
import { listYears } from './list-years'
import { drawYear } from './picture/draw'
import { listRows } from './rows'
import { MEMO_FIGURES, PictureQuery, RowsQuery, StatsQuery } from './schema'
import { loadYear } from './store'

export const stats = new Hono<App>()
  .get('/', canReadLibrary, limitStatistics, valid('query', StatsQuery), async (c) => {
    const { year } = c.req.valid('query')
    if (year === undefined) return c.json(await listYears(statisticsOf(c)), 200)
    return c.json(toStats(await loadYear(statisticsOf(c), year)), 200)
  })
  .get('/year.svg', canReadLibrary, limitStatistics, valid('query', PictureQuery), async (c) => {
    const { year, ...look } = c.req.valid('query')
    const loaded = await loadYear(statisticsOf(c), year, 'picture')
    return c.body(drawYear(toPicture(loaded), look), 200, { 'Content-Type': 'image/svg+xml' })
  })
  .get('/rows', canReadLibrary, limitStatistics, valid('query', RowsQuery), async (c) => {
    const query = c.req.valid('query')
    // Rows with identifiers of memos also need the scope to read memos.
    const furtherScopes = MEMO_FIGURES.includes(query.figure) ? (['memos:read'] as const) : []
    return c.json(await listRows(statisticsOf(c, ...furtherScopes), query), 200)
  })
