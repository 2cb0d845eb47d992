import { type SQL, sql } from 'drizzle-orm'
import { folded } from '../../db/schema/book-tables'
import { fieldsOf } from '../../values/book-fields'
import { toSortKey } from '../../values/text/fold'

/**
 * Whether a folded text has each of the words of `toWords`.
 * @param toStart what of a word is enough at the beginning of a line after the first
 */
export const hasWords = (text: SQL, words: string[], toStart = (word: string) => word) => {
  const has = (part: string) => sql`instr(${text}, ${part})`
  const tests = words.map((word) => {
    const start = toStart(word)
    return start === word ? has(word) : sql`(${has(word)} or ${has(`\n${start}`)})`
  })
  return sql.join(tests, sql` and `)
}

const tagKeys = sql`(
  select group_concat(tagKey, char(10)) from bookTags cross join tags using (memberId, tagId)
  where bookTags.memberId = books.memberId and bookTags.bookId = books.bookId
)`
const lines = sql.join([...fieldsOf('search').map(folded), sql.raw('isbn'), tagKeys], sql`, `)
/** What is searched of a book: a line for each folded field, ISBN and tag, after an empty one. */
export const bookText = sql`concat_ws(char(10), '', ${lines})`

/** Whether a `bookText` has each of the words of `toBookWords`. Its lines lack the punctuation at their beginning. */
export const isBookWith = (text: SQL, words: string[]) => hasWords(text, words, toSortKey)
