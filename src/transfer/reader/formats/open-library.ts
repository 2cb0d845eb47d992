import * as read from '../rows/columns'
import { status } from '../rows/readings'
import { tableFormat } from '../rows/table'

/** The reading log of Open Library. It has no dates. */
export const openLibrary = tableFormat((has) => ['work id', 'edition id', 'bookshelf'].every(has), {
  'work id': read.identifier('openlibrary'),
  'edition id': read.identifier('openlibrary-edition'),
  authors: read.authors('|'),
  bookshelf: status,
  ...read.each(
    'edition count,ratings average,ratings count,has ebook,subjects,subject people,subject places,subject times',
    read.ignored,
  ),
})
