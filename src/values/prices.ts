// What counts towards the quotas of a member, in bytes. The file has no imports, so that scripts can read it.

// SQLite can leave a row of a third of a page of 4,096 bytes alone on it: if rows are inserted in descending order, or their
// neighbours deleted. With these prices, what counts a byte takes at most 2.35 in the database.

/** What each memo and past reading counts, besides its text. */
export const NOTE_PRICE = 1300
/** What each row of the trash counts, besides half of its JSON and title: usually at most as much as in the library. */
export const TRASH_PRICE = 1100
/** What each tag of a book, progress event and sitting counts. */
export const ROW_PRICE = 200
/** Tags count in blocks of twenty per tag, progress events per book, sittings per member: otherwise each would write the member's row. */
export const PRICED_ROWS = 20
export const BLOCK_PRICE = PRICED_ROWS * ROW_PRICE
/** What each book counts, besides its texts: its row, and its first progress events and tags, which are in no block. */
export const BOOK_PRICE = 1500
/** What each image counts towards MAX_MEMBER_IMAGE_BYTES, besides its bytes. */
export const IMAGE_PRICE = 16 * 1024
/** How often a text of a book counts, by default once. These are also stored folded; some in indexes and as authors. */
export const TEXT_COPIES: Record<string, number> = { title: 4, subtitle: 2, author: 7, publisher: 2, series: 2 }

/**
 * SQL for what some texts of a book count.
 * @param row the prefix of its columns, such as `NEW.`
 */
export const textPrice = (texts: readonly string[], row = '') => {
  const bytesOf = (names: readonly string[]) => `octet_length(concat(${names.map((name) => row + name).join(', ')}))`
  const copied = texts.flatMap((name) => {
    const copies = TEXT_COPIES[name]
    return copies ? `${copies - 1} * ${bytesOf([name])}` : []
  })
  return [bytesOf(texts), ...copied].join(' + ')
}

/**
 * SQL for what an entry counts in the trash, from its row's columns.
 * @param parts how many rows of `trashParts` it has, with `partBytes` of JSON
 */
export const trashPrice = (data: string, parts = '0', partBytes = '0') =>
  `(octet_length(title) + octet_length(${data}) + ${partBytes}) / 2 + ${TRASH_PRICE} * (1 + ${parts})`

/** The most progress events of a book. If there are more, a trigger merges some of the oldest. */
export const MAX_EVENTS = 1000
/** The most documents of a member without reading time, and positions of devices in each. They count towards no quota. */
export const MAX_DOCUMENTS = 2000
export const MAX_POSITIONS = 5
/** The most bytes that the reports of a member's imports take in the database. */
export const MAX_REPORT_BYTES = 24 * 1024 * 1024
/** The default quota of a member: UTF-8 bytes of texts, and the prices of rows. */
export const MAX_MEMBER_TEXT_BYTES = 64 * 1024 * 1024
