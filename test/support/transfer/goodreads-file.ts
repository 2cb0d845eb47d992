// Invented libraries as Goodreads exports them.

const HEADER =
  'Book Id,Title,Author,ISBN13,My Rating,Publisher,Binding,Number of Pages,Year Published,Date Read,Date Added,Bookshelves,Exclusive Shelf,My Review'

const TAGS = 'sea winter essays favourites borrowed 소설 signed reread gift club'.split(' ')
const AUTHORS = 300
/** About 250 characters. */
const REVIEW =
  'It begins slowly, in a harbour town where nobody answers letters, and for a hundred pages I was not sure why I went on. Then the archive burns, and every small thing that I had skipped turns out to matter. The ending is quiet, and it is the right one.'

const two = (n: number) => String(n).padStart(2, '0')

/** A valid ISBN-13 that no other `n` has. */
const isbnOf = (n: number) => {
  const digits = `9785${String(n).padStart(8, '0')}`
  const sum = [...digits].reduce((total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 1 : 3), 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

/** The line of a book that was read, with a review and two tags. */
export const goodreadsRow = (n: number, title = `The Salt Archive ${n}`) => {
  const day = `${two(1 + (n % 12))}/${two(1 + (n % 28))}`
  const tags = `${TAGS[n % TAGS.length]}, ${TAGS[(n + 1 + (n % 7)) % TAGS.length]}`
  const edition = `"=""${isbnOf(n)}""",${n % 6},Quay House,Paperback,${100 + (n % 700)},${1950 + (n % 70)}`
  return `${n},"${title}",Mina Oh ${n % AUTHORS},${edition},2024/${day},2023/${day},"${tags}",read,"${REVIEW} (${n})"`
}

/** A file of these lines. */
export const goodreadsFile = (rows: string[]) => `${[HEADER, ...rows].join('\n')}\n`

/** A file of `length` books. */
export const goodreadsBooks = (length: number) => goodreadsFile(Array.from({ length }, (_, n) => goodreadsRow(n + 1)))
