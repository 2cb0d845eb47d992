import * as z from 'zod/mini'
import { GOAL_METRICS, MAX_INT } from '../../values/contract'
import { int, nameOf } from '../../values/fields'
import { named, namedLazy } from '../../values/named'

export const GoalMetric = named('GoalMetric', nameOf(GOAL_METRICS))

export const NewGoal = namedLazy('NewGoal', () => z.object({ metric: GoalMetric, target: int(1, MAX_INT) }))
export type NewGoal = z.infer<typeof NewGoal>
