/** A kind of mail, with the values in its text. */
export type Mail =
  | { kind: 'verification'; code: string }
  | { kind: 'passwordReset'; code: string }
  | { kind: 'passwordWasReset' }
  /** To the new address. `isReturn`: a former one that an undo would restore. */
  | { kind: 'emailChange'; code: string; isReturn: boolean }
  /** To the old address. */
  | { kind: 'emailChanged'; undoCode: string; newEmail: string }
  /** To a new address that belongs to a member. */
  | { kind: 'emailTaken' }
  /** To the address that an undo restored. After a return, with a code to reset the password. */
  | { kind: 'emailRestored'; code?: string }
  /** To the address that the undo or the return replaced. */
  | { kind: 'emailReplaced'; restoredEmail: string }
  /** About a new access token or link. `tokens`, `links`: how many the account has now. */
  | { kind: 'tokenCreated'; tokens: number; links: number }
