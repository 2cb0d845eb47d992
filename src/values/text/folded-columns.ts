import { fieldsOf } from '../book-fields'
import { toSortKey, unlessLower } from './fold'

const SEARCHED = fieldsOf('search')
type Searched = (typeof SEARCHED)[number]
type FoldedColumn = `${Searched}Folded`

/** The sort key of a title or name for its `…Folded` column: see `unlessLower`. */
export const toFoldedColumn = (text: string | null | undefined) =>
  text == null ? null : unlessLower(toSortKey(text), text)

/** Those of the fields of a book that have a folded column, each with the name of that column. */
export const foldedColumnsOf = (fields: readonly string[]) =>
  SEARCHED.filter((name) => fields.includes(name)).map((name) => [name, `${name}Folded`] as const)

/** The folded columns of the given fields of a book. */
export const toFolded = (
  book: Partial<Record<Searched, string | null>>,
): Partial<Record<FoldedColumn, string | null>> =>
  Object.fromEntries(
    SEARCHED.filter((name) => book[name] !== undefined).map((name) => [`${name}Folded`, toFoldedColumn(book[name])]),
  )
