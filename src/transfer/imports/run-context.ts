import { type Batch, type Db, run } from '../../db/client'
import type { Quotas } from '../../values/quotas'
import type { ReaderBinding } from './receive/reader-client'

/** D1 allows an invocation 1,000 statements. */
const MAX_STATEMENTS = 800

/** What the work on an import needs. `budget`: the statements that are left to it. The last chunk may exceed them. */
export type RunContext = {
  db: Db
  bucket: R2Bucket
  reader: ReaderBinding
  quotas: Quotas
  timeZone: string
  budget: { left: number }
}

export const newBudget = () => ({ left: MAX_STATEMENTS })

/** Runs statements in one call, and counts them. */
export const query = <B extends Batch>({ db, budget }: RunContext, batch: B) => {
  budget.left -= Object.values(batch).flatMap((each) => each ?? []).length
  return run(db, batch)
}
