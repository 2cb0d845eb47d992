import * as z from 'zod/mini'
import { cursorError, cursorPaging } from '../../values/cursor'
import { intParameter, nameOf } from '../../values/fields'
import { named } from '../../values/named'

export const MIN_YEAR = 1900
export const MAX_YEAR = 2999
/** The most rows of a kind (readings, progress events, memos, sittings of devices) that the statistics of a year read. */
export const MAX_ROWS = 50_000

const YearParameter = () => intParameter(MIN_YEAR, MAX_YEAR)

export const YearPath = z.lazy(() => z.object({ year: YearParameter() }))
export const StatsQuery = z.lazy(() => z.object({ year: z.optional(YearParameter()) }))

/** The figures that can list their rows. */
export const FIGURES = [
  'books',
  'readings',
  'rereads',
  'stopped',
  'paused',
  'pagesFinished',
  'pagesRead',
  'minutesRead',
  'ratings',
  'daysToFinish',
  'longest',
  'shortest',
  'bestRated',
  'authors',
  'tags',
  'languages',
  'formats',
  'memos',
  'daysRead',
  'longestStreak',
  'currentStreak',
  'backlog',
] as const
export type FigureName = (typeof FIGURES)[number]
/** Those whose rows have identifiers of memos. */
export const MEMO_FIGURES: readonly FigureName[] = ['memos', 'daysRead', 'longestStreak', 'currentStreak']
export const Figure = named('Figure', nameOf(FIGURES))

/** The cursor has the key of the last row, `toKey` in rows.ts, after the year and the figure. */
export const RowsQuery = z.lazy(() =>
  z
    .extend(cursorPaging(z.tuple([z.number(), z.string(), z.string()])), { year: YearParameter(), figure: Figure })
    .check(
      z.refine(({ cursor, year, figure }) => !cursor || (cursor[0] === year && cursor[1] === figure), {
        path: ['cursor'],
        error: cursorError,
      }),
    ),
)
export type RowsQuery = z.infer<typeof RowsQuery>

export const Theme = nameOf(['light', 'dark'])
export const PictureSize = nameOf(['card', 'page'])
export const PictureQuery = z.lazy(() =>
  z.object({
    year: YearParameter(),
    theme: z._default(Theme, 'light'),
    size: z._default(PictureSize, 'card'),
  }),
)
