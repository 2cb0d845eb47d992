import type { TableRow } from '../csv-rows'
import { pointsOf } from './values'

const POINTS = '(5|10|20|100)(?!\\d)'
/** `/10`, `out of 10`, `1-5`, `von 10`, `10점`: the points of five stars, in the name of a column. */
const SCALE = new RegExp(
  `(?:/|(?:(?:from|von|de|da|от|с) )?[01] ?(?:[-–~]|to|bis|a|à|até|до)|(?<!\\p{L})(?:(?:out )?of|von|sur|su|de|sobre|из)) ?${POINTS}|(?<!\\d)${POINTS} ?(?:점|点|分|stars?|sterne|estrel?las|étoiles|points?|punkte|pont?os|puntos)`,
  'iu',
)
const scaleInName = (name: string) => {
  const [, before, after] = SCALE.exec(name) ?? []
  return before ?? after
}

/** The name of a column without its scale: `Rating` of `Rating (out of 10)`. */
export const withoutScale = (name: string) => {
  const at = name.search(SCALE)
  return at === -1 ? name : name.slice(0, at).replace(/[\s([（【:,-]+$/, '')
}

/** Fewer ratings above five are slips of the pen. More of them, up to the second share, say nothing certain. */
const [SLIPS, CERTAIN] = [0.1, 0.5]

/** The points of five stars, by the ratings of a column. NaN if it is not certain. */
const guessScale = (ratings: number[]) => {
  const above = ratings.filter((rating) => rating > 5)
  const share = above.length / (ratings.length || 1)
  if (share < SLIPS) return 5
  const most = above.reduce((one, other) => Math.max(one, other))
  if (share > CERTAIN && most <= 10) return 10
  return share > CERTAIN && most > 20 && most <= 100 ? 100 : Number.NaN
}

/** `most`: the points that are five stars, or NaN. `isGuessed`: by the ratings, which go beyond five. */
export type Scale = { most: number; isGuessed: boolean }

/** Finds the scale of a column of ratings: by its name, else by its ratings. */
export const createScaleFinder = ({ rows, placeOf }: { rows: TableRow[]; placeOf: (column: string) => number }) => {
  const found = new Map<string, Scale>()
  const find = (column: string): Scale => {
    const named = scaleInName(column)
    if (named) return { most: Number(named), isGuessed: false }
    const place = placeOf(column)
    const most = guessScale(rows.flatMap(({ cells }) => pointsOf(cells[place]?.trim() ?? '') || []))
    return { most, isGuessed: most !== 5 }
  }
  return (column: string) => {
    const scale = found.get(column) ?? find(column)
    found.set(column, scale)
    return scale
  }
}
