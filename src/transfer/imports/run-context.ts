import { type Batch, type Db, run } from '../../db/client'
import { splitByBytes } from '../../db/parts'
import type { Config } from '../../env'
import type { ReaderBinding } from '../entries/reader-protocol'

/** D1 allows an invocation 1,000 statements. */
export const MAX_STATEMENTS = 800

/** What the work on an import needs. `budget`: the statements that are left to it. The last chunk may exceed them. */
export type RunContext = {
  db: Db
  bucket: R2Bucket
  reader: ReaderBinding
  config: Config
  budget: { left: number }
}

export const query = <B extends Batch>({ db, budget }: RunContext, batch: B) => {
  budget.left -= Object.values(batch).flatMap((each) => each ?? []).length
  return run(db, batch)
}

/** Characters of a parameter: below D1's 2 MB even if each takes three bytes. */
const MAX_PARAMETER_SIZE = 512 * 1024

/** Splits items into JSON arrays that fit into a parameter. D1 allows a hundred parameters per statement. */
export const toJsonArrays = (items: unknown[]) => {
  const texts = items.map((item) => JSON.stringify(item))
  const sizes = texts.map((text, id) => ({ id, bytes: text.length }))
  return splitByBytes(sizes, MAX_PARAMETER_SIZE).map((ids) => `[${ids.map((id) => texts[id]).join(',')}]`)
}
