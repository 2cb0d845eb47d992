/** The last part of the path of a file of reading statistics. KOReader lets one choose the folder, so that can be any. */
export const STATISTICS_FILE = 'statistics.sqlite3'

/** The most sittings that a batch adds. With 2,000 documents, their links, and a full log, three times as many rows change. */
export const MAX_SITTINGS = 3000
/** The most parts of a file that one request counts. Another one with the same file goes on. */
export const MAX_PARTS = 3
/** How often a request begins again because another one has replaced the file meanwhile. */
export const MAX_ATTEMPTS = 3
/** The most documents that a batch looks for in the library: those that were read last. */
export const MAX_LINKED = 250
/** The most waiting documents that it looks for if a file is sent again. */
export const MAX_LINKED_AGAIN = 20
