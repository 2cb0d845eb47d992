import * as z from 'zod/mini'
import { GOAL_METRICS, MAX_INT } from '../../values/contract'
import { int, orRequired } from '../../values/fields'
import { named, namedLazy } from '../../values/named'

export const GoalMetric = named(
  'GoalMetric',
  z.enum(GOAL_METRICS, { error: orRequired(`must be one of ${GOAL_METRICS.join(', ')}`) }),
)

export const NewGoal = namedLazy('NewGoal', () => z.object({ metric: GoalMetric, target: int(1, MAX_INT) }))
export type NewGoal = z.infer<typeof NewGoal>
