import { type SQL, sql } from 'drizzle-orm'
import { type Db, firstRow, run, type Statement, type Values } from '../../db/client'
import { type Attempt, type Counted, deleteAttempt, insertAttemptIf, selectUsage } from '../../db/limits/attempts'
import { countDailyMailIf, uncountDailyMail } from './mail-limits'

/** The values of a code to be issued, and the limits on its mail. */
type Issued = Attempt & { day: number }

type Kind = {
  /** Stores a code, unless a limit is reached. */
  insert: (code: Issued & Values) => Statement
  remove: (code: Values) => Statement
  /** Matches after `insert` has stored the code. */
  isIssued: SQL
  /** How much its mail counts for the day. */
  mails?: SQL
}

/** Issues codes of one kind: stores them, counts their mails, and mails them. */
export const createIssuer = ({ insert, remove, isIssued, mails = sql`1` }: Kind) => {
  const [countMail, countDailyMail] = [insertAttemptIf(isIssued), countDailyMailIf(isIssued, mails)]
  return {
    /** The statements that store a code and count its mail. `issued` is undefined if a limit is reached. */
    issue: (code: Issued & Values) => ({
      usage: selectUsage(code),
      issued: firstRow(insert(code)),
      counted: countMail(code),
      countedToday: countDailyMail(code),
    }),
    /** Mails an issued code. If that fails, deletes the code, and the mail does not count. */
    mail: async (db: Db, code: Issued & Values, counted: Counted, deliver: () => Promise<void>) => {
      try {
        await deliver()
      } catch (error) {
        await run(db, { code: remove(code), uncounted: deleteAttempt(counted), uncountedToday: uncountDailyMail(code) })
        throw error
      }
    },
  }
}
