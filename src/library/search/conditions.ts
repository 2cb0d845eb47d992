import { type SQL, sql } from 'drizzle-orm'
import { folded } from '../../db/schema/book-tables'
import { fieldsOf } from '../../values/book-fields'
import { toSortKey } from '../../values/text/fold'

const has = (text: SQL) => (part: string) => sql`instr(${text}, ${part})`

/** Whether a folded text has each of the words of `toWords`. */
export const hasWords = (text: SQL, words: string[]) => sql.join(words.map(has(text)), sql` and `)

/** The member's tags with one of the words, for WITH: looked up once, so that the tags of books are mostly not. */
export const matchingTags = (words: string[], owner: SQL) => sql`matchingTags(tagId) as materialized (
    select tagId from tags where memberId = ${owner} and (${sql.join(words.map(has(sql.raw('tagKey'))), sql` or `)})
  )`
const tagKeys = sql`case when exists (select 1 from matchingTags) then (
  select group_concat(tagKey, char(10)) from bookTags cross join tags using (memberId, tagId)
  where bookTags.memberId = books.memberId and bookTags.bookId = books.bookId
    and +bookTags.tagId in (select tagId from matchingTags)
) end`
const fields = sql.join([...fieldsOf('search').map(folded), sql.raw('isbn')], sql`, `)
const lines = sql.raw('lines')
const hasInLines = has(lines)

/**
 * Whether each of the words is in one of the texts, which are joined as lines. They have no leading punctuation, so at
 * the start of a line a word matches without its own.
 */
const hasWordsIn = (texts: SQL, words: string[]) => {
  const tests = words.map((word) => {
    const start = toSortKey(word)
    return start === word ? hasInLines(word) : sql`(${hasInLines(word)} or ${hasInLines(`\n${start}`)})`
  })
  // The limit keeps SQLite from building the text for each word.
  return sql`(
    select ${sql.join(tests, sql` and `)}
    from (select concat_ws(char(10), '', ${texts}) as ${lines} limit 1)
  )`
}

/** Whether the row of `books` has each of the words of `toBookWords` in a field. */
export const hasWordsInFields = (words: string[]) => hasWordsIn(fields, words)

/** The same for a field or a tag, in a statement with `matchingTags` of the same words. */
export const isBookWith = (words: string[]) => hasWordsIn(sql`${fields}, ${tagKeys}`, words)
