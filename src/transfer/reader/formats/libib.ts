import * as read from '../rows/columns'
import { finished, started } from '../rows/readings'
import type { ReadCell } from '../rows/row'
import { tableFormat } from '../rows/table'
import { splitList } from '../rows/values'

/** All authors, else the names of the first one. */
const creators: ReadCell = (row, cell, column) => {
  const first = `${row.get('first_name')} ${row.get('last_name')}`
  read.addAuthors(row, splitList(cell || first, ','), column)
}

const asTag: ReadCell = (row, cell, column) => read.addTags(row, [cell], column)

export const libib = tableFormat((has) => ['item_type', 'creators', 'ean_isbn13'].every(has), {
  // Films, music and games are in the same file.
  item_type: read.failUnless(/^(?:book)?$/i),
  creators,
  ...read.each('ean_isbn13,upc_isbn10', read.isbn),
  publish_date: read.published,
  length: read.pages,
  began: started,
  completed: finished,
  tags: read.tags(','),
  ...read.each('collection,group', asTag),
  copies: read.unless(/^1$/, read.unsupported),
  price: read.unless(/^0[.,]00$/, read.unsupported),
  review_date: read.unsupported,
  ...read.each(
    'first_name,last_name,description,number_of_discs,number_of_players,age_group,ensemble,aspect_ratio,esrb,cover_url,libib_title,libib_author',
    read.ignored,
  ),
})
