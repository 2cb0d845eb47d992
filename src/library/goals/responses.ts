import * as z from 'zod/mini'
import { empty, type FeatureReference, json } from '../../http/description/feature-reference'
import { MAX_INT } from '../../values/contract'
import { int } from '../../values/fields'
import { namedObject } from '../../values/named'
import { MAX_YEAR, MIN_YEAR } from '../stats/schema'
import { GoalMetric } from './schema'

export const Goal = namedObject('Goal', {
  year: int(MIN_YEAR, MAX_YEAR),
  metric: GoalMetric,
  target: int(1, MAX_INT),
  done: z.int().check(z.minimum(0)),
  expected: int(0, MAX_INT),
  ahead: z.int(),
})
export type Goal = z.infer<typeof Goal>

export const goalsReference: FeatureReference = {
  tag: 'Statistics',
  schemas: {
    Goal: 'What you want to read in a year, and how far you are.',
    GoalMetric:
      'What a goal counts.\n\n- `BOOKS`: `books` of the statistics\n- `PAGES`: `pagesFinished` of the statistics',
    NewGoal: 'The goal to set.',
  },
  properties: {
    ahead: '`done` minus `expected`: negative if you are behind.',
    done: 'The figure of the statistics.',
    expected:
      'The target times the share of the days of the year that have begun in your time zone, rounded to a whole number, half up.',
    metric: 'What the goal counts.',
    target: 'How many books or pages.',
  },
  operations: {
    'GET /goals/{year}': {
      operationId: 'getGoal',
      summary: 'Get the goal of a year',
      description: 'Goals are not part of the feed of changes.',
      responses: { 200: json(Goal, 'The goal') },
      errors: ['GOAL_NOT_FOUND', 'MAX_STATS_ROWS'],
    },
    'PUT /goals/{year}': {
      operationId: 'setGoal',
      summary: 'Set the goal of a year',
      description: 'Replaces the goal of the year, if there is one.',
      responses: { 200: json(Goal, 'The goal') },
      errors: ['MAX_STATS_ROWS'],
    },
    'DELETE /goals/{year}': {
      operationId: 'deleteGoal',
      summary: 'Delete the goal of a year',
      description: 'A second deletion returns 404.',
      responses: { 204: empty('Deleted') },
      errors: ['GOAL_NOT_FOUND'],
    },
  },
}
