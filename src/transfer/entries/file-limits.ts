/** The file as a whole cannot be imported. The message is a sentence for the member who sent the file. */
export class ImportFileError extends Error {}

export const MAX_ROWS = 10_000
export const MAX_COLUMNS = 200
