import { sql } from 'drizzle-orm'
import { isCaller } from '../../db/caller'
import { roomOf } from '../../db/quotas'
import { shownReading } from '../../db/schema/shown-reading'
import type { Reading } from './responses'

export type Row = Omit<Reading, 'paused'> & { paused: number }
const ofTable = (isPaused: string) =>
  sql.raw(`readingId, startedAt, finishedAt, outcome, quarters / 4.0 as rating, format, note, ${isPaused} as paused`)
/** Columns of `currentReadings`, and of `readings`. */
export const [ofCurrent, ofPast] = [ofTable('isPaused'), ofTable('0')]
const shown = shownReading()
/** The same of `books`, for `returning`. */
export const ofBook = sql.raw(
  `${shown.readingId} as readingId, ${shown.startedAt} as startedAt, ${shown.finishedAt} as finishedAt,
  ${shown.outcome} as outcome, ${shown.quarters} / 4.0 as rating, ${shown.format} as format, note, ${shown.isPaused} as paused`,
)
export const toReading = (row: Row): Reading => ({ ...row, paused: Boolean(row.paused) })

/** How many bytes of text the caller has left. */
export const textRoom = roomOf(isCaller)
