import * as read from '../../rows/columns'
import { highlightRows } from './highlight-rows'

/** The CSV that apple-books-export writes. Times are in UTC. */
export const appleBooks = highlightRows({
  matches: ({ keys }) => ['assetid', 'title', 'annotationid', 'createdat'].every((column) => keys.includes(column)),
  book: Object.entries({
    assetid: read.identifier('apple-books'),
    title: read.title,
    author: read.authors(),
  }),
  others: Object.entries({
    color: read.unsupported,
    ...read.each('genre,annotationid,type,text,note,location,chapter,createdat,modifiedat', read.ignored),
  }),
  toHighlight: ({ get }) => ({ text: get('text'), note: get('note'), date: get('createdat') }),
  emptyCode: 'bookmark',
})
