import { AssertionError } from 'node:assert/strict'

const LONGEST_SHOWN = 600
const tally = { passed: 0, failed: 0 }
let interrupted = false

// Nothing is cut short, so that those who signed up are withdrawn; only no further check is begun.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = true
  })
}

const shorten = (text: string) =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}… (${text.length} characters)` : text

const show = (value: unknown) => {
  const readable = (_: string, part: unknown) => {
    if (typeof part === 'function') return `<${part.name}>`
    return part instanceof RegExp ? String(part) : part
  }
  return shorten(JSON.stringify(value, readable) ?? 'undefined')
}

/** What went wrong, on one line. */
export const explain = (error: unknown) => {
  if (!(error instanceof AssertionError)) {
    return error instanceof Error ? [error.message, error.cause].filter(Boolean).join(': ') : String(error)
  }
  const { expected, actual } = error
  // Node adds a picture of the difference below what was said.
  const said = error.generatedMessage ? '' : shorten(error.message.split('\n')[0] ?? '')
  if (said && expected === true) return said
  return `${said}${said && ': '}expected ${show(expected)} got ${show(actual)}`
}

/** As `check`, and even after an interruption. */
export const checkAnyway = async (what: string, attempt: () => unknown) => {
  try {
    await attempt()
    tally.passed++
    console.log(`ok   ${what}`)
  } catch (error) {
    tally.failed++
    console.log(`FAIL ${what}: ${explain(error)}`)
  }
}

/** Tries one thing and says on a line how it went; a failure is counted, and all else goes on. */
export const check = async (what: string, attempt: () => unknown) => {
  if (!interrupted) await checkAnyway(what, attempt)
}

/** Tries every row of a table, and only then fails by all that failed. */
export const each = async <Row>(rows: Iterable<Row>, attempt: (row: Row) => unknown) => {
  const failures: string[] = []
  for (const row of rows) {
    try {
      await attempt(row)
    } catch (error) {
      failures.push(explain(error))
    }
  }
  if (failures.length > 0) throw new Error(failures.join(' | '))
}

/** Prints the count; the exit code. */
export const conclude = () => {
  console.log(`${tally.passed} passed, ${tally.failed} failed${interrupted ? ', interrupted' : ''}`)
  return tally.failed > 0 || interrupted ? 1 : 0
}
