// Which book a document is, by its title and authors: as imports match books, as far as SQL can tell. Where it cannot, such as
// a book whose subtitle the document lacks, the document waits for its member.

import { sql } from 'drizzle-orm'
import { callerTokenId } from '../../db/caller'
import { sqlStatement } from '../../db/client'
import { number } from '../../db/parameters'
import { folded, titleKey } from '../../db/schema/book-tables'
import { toAuthorKeys } from '../../transfer/entries/names'
import { toSortKey } from '../../values/text/fold'
import { isOpen, ofDocument } from './conditions'

/** How the authors of a document, one a line, may be written in the library. Only what imports take for the same. */
const toSpellings = (authors: string[]) => {
  const [first = ''] = authors
  // `First Last` as `Last, First`, or the reverse.
  const inverted = first.replace(/^(.+), (.+)$|^(.+) (\S+)$/, (_, surname, name, given, last) =>
    surname ? `${name} ${surname}` : `${last}, ${given}`,
  )
  const keys = toAuthorKeys(authors.join(', '))
  return [first, inverted, authors.join(', '), authors.join('; '), authors.join(' & ')]
    .filter((name) => toAuthorKeys(name).some((key) => keys.includes(key)))
    .map(toSortKey)
}

/** The values of the parameters of `linkByNames`. */
export const toNames = (title: string, authors: string) => {
  const names = authors
    .split('\n')
    .map((name) => name.trim())
    .filter(Boolean)
  const [head, ...rest] = title.split(': ')
  return {
    whole: toSortKey(title),
    head: rest.length > 0 ? toSortKey(head ?? '') : null,
    rest: toSortKey(rest.join(': ')),
    spellings: JSON.stringify(toSpellings(names)),
    title,
    author: names.join(', '),
  }
}

/** More books of one title, or more that may be the document, are not read: then it waits. */
const MAX_TITLED = 500
const MAX_CANDIDATES = 20
const mostTitled = number(MAX_TITLED)
const most = number(MAX_CANDIDATES)

/**
 * Links a document to its book if exactly one fits, it has none yet, and the member has not said that it is none of the
 * books. If several have its title, only one with the identical title and author fits.
 */
export const linkDocument = (condition = sql`true`) => sqlStatement`
  with titled as materialized (
    select bookId, title, subtitle, author, ${folded('author')} as authorKey, ${titleKey} as titleKey,
      ${folded('subtitle')} as subtitleKey
    from (select memberId as ownerId from documents where ${ofDocument} and ${isOpen} and ${condition})
      cross join json_each(json_array(:whole, :head)) as name
      cross join books on memberId = ownerId and ${titleKey} = name.value
    limit ${mostTitled} + 1
  ), candidates as materialized (
    select bookId, authorKey in (select value from json_each(:spellings)) as fits,
      title = :title and subtitle is null and author = :author as isIdentical
    from titled
    where ((titleKey = :whole and subtitle is null) or (titleKey = :head and subtitleKey = :rest))
      and (select count(*) from titled) <= ${mostTitled}
    limit ${most} + 1
  ), found as materialized (
    select max(iif(count = 1 or isIdentical, bookId, null)) as bookId
    from candidates cross join (select count(*) as count, sum(isIdentical) as identical from candidates)
    where count <= ${most} and (identical = 1 or (count = 1 and fits))
    having count(*) > 0
  )
  update documents set bookId = found.bookId, isByHand = 0, tokenId = ${callerTokenId}, linkedAt = :now from found where ${ofDocument}`
export const linkByNames = linkDocument()
