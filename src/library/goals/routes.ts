import { canEditLibrary, canReadLibrary, canWriteLibrary } from '../../callers/authenticated'
import { limitStatistics, statisticsOf } from '../../callers/large-reads'
import type { App } from '../../env'
import { found } from '../../errors'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { YearPath } from '../stats/schema'
import { NewGoal } from './schema'
import { deleteGoal, getGoal, setGoal } from './store'

export const goals = new Hono<App>()
  .get('/:year', canReadLibrary, limitStatistics, valid('param', YearPath), async (c) => {
    const goal = await getGoal(statisticsOf(c), c.req.valid('param').year)
    return c.json(found(goal, 'GOAL_NOT_FOUND'), 200)
  })
  .put('/:year', canEditLibrary, limitStatistics, valid('param', YearPath), valid('json', NewGoal), async (c) => {
    const goal = await setGoal(statisticsOf(c), c.req.valid('param').year, c.req.valid('json'))
    return c.json(found(goal, 'GOAL_NOT_FOUND'), 200)
  })
  .delete('/:year', canWriteLibrary, valid('param', YearPath), async (c) => {
    found(await deleteGoal(statisticsOf(c), c.req.valid('param').year), 'GOAL_NOT_FOUND')
    return c.body(null, 204)
  })
