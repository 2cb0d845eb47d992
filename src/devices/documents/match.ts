// Which book a document is, by its title and authors: as imports match books, as far as SQL can tell. Where it cannot, such as
// a book whose subtitle the document lacks, the document waits for its member.

import { sql } from 'drizzle-orm'
import { sqlStatement } from '../../db/client'
import { folded, titleKey } from '../../db/schema/book-tables'
import { toAuthorKeys } from '../../transfer/entries/names'
import { toSortKey } from '../../values/text/fold'
import { callersToken, isOpen, ofDocument } from './conditions'

const SEPARATORS = [', ', '; ', ' & ', ' and ']

/** `Last, First` as `First Last`, and the reverse. */
const invert = (name: string) => {
  const [surname = '', given] = name.split(', ')
  const at = name.lastIndexOf(' ')
  return given === undefined ? `${name.slice(at + 1)}, ${name.slice(0, Math.max(at, 0))}` : `${given} ${surname}`
}

/** How the authors of a document, one a line, may be written in the library, folded. Only what imports take for the same. */
const toAuthors = (lines: string[]) => {
  const [first = ''] = lines
  const keys = toAuthorKeys(lines.join(', '))
  const spellings = [first, invert(first), ...SEPARATORS.map((separator) => lines.join(separator))]
  return spellings.filter((name) => toAuthorKeys(name).some((key) => keys.includes(key))).map(toSortKey)
}

/** The values of the parameters of `linkByNames`. */
export const toNames = (title: string | null, authors: string | null) => {
  const lines = (authors ?? '')
    .split('\n')
    .map((name) => name.trim())
    .filter(Boolean)
  const full = (title ?? '').trim()
  const at = full.indexOf(': ')
  const [head, rest] = at > 0 ? [toSortKey(full.slice(0, at)), toSortKey(full.slice(at + 2))] : [null, null]
  const isNamed = full !== '' && lines.length > 0
  return {
    whole: isNamed ? toSortKey(full) : null,
    ...{ head: isNamed ? head : null, rest },
    spellings: JSON.stringify([...new Set(isNamed ? toAuthors(lines) : [])]),
    title: full,
    author: lines.join(', '),
  }
}

/** More books of one title are not read: then the document waits. */
const MAX_CANDIDATES = 20
const most = sql.raw(String(MAX_CANDIDATES))

/**
 * Links the document to the book that it is, if exactly one fits, the document has no book yet, and the member has not
 * said that it is none. Of several with the title, only the one with the identical title and author.
 */
export const linkByNames = sqlStatement`
  with candidates as materialized (
    select bookId,
      ${folded('author')} in (select value from json_each(:spellings)) as fits,
      title = :title and subtitle is null and author = :author as isIdentical
    from (select memberId as ownerId from documents where ${ofDocument} and ${isOpen})
      cross join json_each(json_array(:whole, :head)) as name
      cross join books on memberId = ownerId and ${titleKey} = name.value
    where ((${titleKey} = :whole and subtitle is null) or (${titleKey} = :head and ${folded('subtitle')} = :rest))
    limit ${most} + 1
  ), found as materialized (
    select max(iif(count = 1 or isIdentical, bookId, null)) as bookId
    from candidates cross join (select count(*) as count, sum(isIdentical) as identical from candidates)
    where count <= ${most} and (identical = 1 or (count = 1 and fits))
    having count(*) > 0
  )
  update documents set bookId = found.bookId, isByHand = 0, tokenId = ${callersToken} from found where ${ofDocument}`
