/** The file as a whole cannot be imported. */
export class ImportFileError extends Error {
  /** @param reason a sentence for the member who sent the file */
  constructor(readonly reason: string) {
    super(reason)
  }
}
