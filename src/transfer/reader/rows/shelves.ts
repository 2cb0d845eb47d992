import { addTags } from './columns'
import type { ReadCell, Row, Shelf } from './row'
import { toKey } from './values'
import { findStatus } from './words'

const folded = new WeakMap<Row['shelfMap'], Map<string, Shelf>>()

/** What a shelf means, by the member's map. */
export const findMapped = (name: string, { shelfMap }: Row) => {
  const known =
    folded.get(shelfMap) ?? new Map(Object.entries(shelfMap).map(([shelf, meaning]) => [toKey(shelf), meaning]))
  folded.set(shelfMap, known)
  return known.get(toKey(name))
}

/** Sets the shelf as the member maps it, else as the format does. The name of another shelf is kept as a tag. */
export const shelve = (row: Row, name: string, column: string, find: (name: string) => Shelf | undefined) => {
  if (!name) return
  const shelf = findMapped(name, row) ?? find(name)
  if (!shelf) row.lose('custom-shelf-needs-choice', column)
  if (!shelf || shelf === 'TAG') addTags(row, [name], column)
  else row.shelf = shelf
}

/** A status, in words of any service or of a member. */
export const status: ReadCell = (row, cell, column) => {
  if (findMapped(cell, row) ?? findStatus(cell)) shelve(row, cell, column, findStatus)
  else if (cell) row.lose('unknown-status', column)
}
