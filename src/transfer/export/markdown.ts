import type { ArrayOrParts } from '../../db/parts'
import type { Memo } from '../../library/memos/responses'
import type { BookColumns } from '../book-columns'

const TYPES = { BOOK_CONTENT: 'Quotation', SUMMARY: 'Summary', THOUGHT: 'Thought', QUESTION: 'Question' }

/** A text on one line, with Markdown and HTML escaped. */
const toInline = (text: string) =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_[\]<>&#~|!]/g, '\\$&')

/** A block quote. Each line begins with `>`, so no text can end it. */
const toQuote = (text: string) => `> ${text.replace(/\r\n|\r|\n/g, '\n> ')}`

const toSection = ({ memoType, memoBookPage, createdAt, memoContent }: Memo) => {
  const page = memoBookPage > 0 ? `, page ${memoBookPage}` : ''
  return `### ${TYPES[memoType]}${page}, ${createdAt.slice(0, 10)}\n\n${toQuote(memoContent)}\n\n`
}

type BookWithMemos = Pick<BookColumns, 'title' | 'author'> & { memos: ArrayOrParts<Memo> }

export async function* toMarkdown(pages: AsyncIterable<BookWithMemos[]>) {
  yield '# Memos\n\n'
  for await (const page of pages) {
    // A page is one chunk, because the time limit for slow clients is per chunk.
    let text = ''
    for (const { title, author, memos } of page) {
      text += `## ${toInline(title)}\n\n${author ? `Author: ${toInline(author)}\n\n` : ''}`
      if (Array.isArray(memos)) text += memos.map(toSection).join('')
      else {
        yield text
        text = ''
        for await (const part of memos) yield part.map(toSection).join('')
      }
    }
    if (text) yield text
  }
}
