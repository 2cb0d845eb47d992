/** The file as a whole cannot be imported. */
export class ImportFileError extends Error {
  readonly reason: string

  /** @param reason a sentence for the member who sent the file */
  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}
