// Runs the statements and the plain rules of readings on random histories, and says how often each case was reached.
// usage: node run.mjs [--histories 20000] [--seed 1] [--break NAME] [--plans]
import { parseArgs } from 'node:util'
import { runHistories } from './histories.mjs'

/** Parts of the design that can be left out, to show that the model finds it. */
const BREAKS = {
  hide: 'dates of the archived reading are shown as those of the next one',
  archive: 'a book that is opened or put back does not keep its reading',
  restore: 'a mistake undone leaves a second reading',
  settle: 'a later past reading stays past',
  limit: 'status changes add readings without end',
  merge: 'an open reading replaces an ended one',
  begin: 'an import does not archive',
  expected: 'an import overwrites what was changed after it was planned',
  exact: 'an undo does not bring back the row of the book',
  taken: 'an undo leaves the past row of the reading that is current again',
  reinsert: 'an undo drops a past reading that the import made current',
  drop: 'an undo leaves a current reading that the import added',
  fresh: 'an undo gives the identifier of a removed reading to the next one',
  forget: 'an undo leaves hidden dates of a reading that is gone',
  back: 'a merge undone takes back what was changed since',
  trash: 'the trash forgets past readings',
  log: 'changed readings are missing in the feed',
  finish: 'an import, or its undo, finishes a book today',
  retire: 'identifiers of deleted readings are given again',
}

const USAGE = `usage: node run.mjs [--histories 20000] [--seed 1] [--break NAME] [--plans]
${Object.entries(BREAKS)
  .map(([name, effect]) => `  --break ${name}: ${effect}`)
  .join('\n')}`

const text = (value) => ({ type: 'string', ...(value && { default: value }) })
const { values: flags } = parseArgs({
  options: { histories: text('20000'), seed: text('1'), break: text(), plans: { type: 'boolean', default: false } },
})
if (flags.break !== undefined && !(flags.break in BREAKS)) {
  console.log(USAGE)
  process.exit(2)
}

/** How SQLite runs each statement, by request. */
const plans = new Map()
const explain = (database, kind, ran) => {
  for (const [at, [statement, bound]] of ran.entries()) {
    const key = `${kind} ${at + 1}`
    const known = plans.get(key) ?? new Map()
    if (known.has(statement)) continue
    const steps = database.prepare(`explain query plan ${statement}`).all(bound)
    plans.set(
      key,
      known.set(
        statement,
        steps.map(({ detail }) => detail),
      ),
    )
  }
}
// A scan of JSON or of an intermediate result is as long as the request. One of a table, or of all books or readings of
// the member, grows with the library.
const TABLE = '(?:books|readings|undos|trash|currentReadings|allReadings|[cfkmnopr])'
const isUnbounded = (step) => new RegExp(`^SCAN ${TABLE}\\b|\\(memberId=\\?\\)$|AUTOMATIC`).test(step)

const { histories, seed } = flags
try {
  const options = { histories: Number(histories), seed: Number(seed), broken: (name) => flags.break === name }
  const { steps, seen } = runHistories({ ...options, inspect: flags.plans ? explain : undefined })
  console.log(`${histories} histories, ${steps} steps: the statements, the rules and the invariants agree`)
  for (const [name, count] of Object.entries(seen).sort()) console.log(`  ${name}: ${count}`)
} catch (error) {
  console.log(error.message)
  process.exit(1)
}
let unbounded = 0
for (const [key, statements] of plans) {
  for (const [statement, steps] of statements) {
    console.log(`\n${key}: ${statement.trim().split('\n')[0]}`)
    for (const step of steps.filter((each) => /^(?:SCAN|SEARCH)/.test(each))) {
      console.log(`  ${step}${isUnbounded(step) ? '   <- reads a whole table' : ''}`)
      if (isUnbounded(step)) unbounded += 1
    }
  }
}
if (unbounded > 0) process.exit(1)
