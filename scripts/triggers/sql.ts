// How triggers.sql is written: https://www.sqlite.org/lang_createtrigger.html

const WIDTH = 120

const indent = (text: string, by = '  ') => text.replaceAll(/^(?=.)/gm, by)

/** Removes the indentation that all lines have. */
const dedent = (text: string) => {
  const lines = text.replace(/^\n/, '').trimEnd().split('\n')
  const margin = Math.min(...lines.filter(Boolean).map((line) => line.length - line.trimStart().length))
  return lines.map((line) => line.slice(margin)).join('\n')
}

/**
 * A list on as many lines as it needs.
 * @param at where further lines begin
 * @param first where the first line begins
 */
export const list = (items: string[], at: number, first = at) => {
  const lines = ['']
  for (const [index, item] of items.entries()) {
    const text = index < items.length - 1 ? `${item}, ` : item
    const line = lines.at(-1) ?? ''
    const start = lines.length === 1 ? first : at
    if (line && start + line.length + text.trimEnd().length > WIDTH) lines.push(text)
    else lines[lines.length - 1] = line + text
  }
  return lines.map((line) => line.trimEnd()).join(`\n${' '.repeat(at)}`)
}

export type Trigger = {
  name: string
  /** The event and its table, such as `INSERT ON books`. */
  after: string
  when?: string
  comment?: string
  statements: string[]
}

export const toSql = ({ name, after, when, comment, statements }: Trigger) =>
  [
    ...(comment ? [comment.trim().replaceAll(/^ */gm, '-- ')] : []),
    `CREATE TRIGGER ${name} AFTER ${after}`,
    ...(when ? [`WHEN ${when.trim()}`] : []),
    'BEGIN',
    statements.map((statement) => indent(`${dedent(statement)};`)).join('\n\n'),
    'END;',
  ].join('\n')

/** An UPDATE that adds to counters, and subtracts from them: the expressions are for the row `ROW`. */
export const count = (
  table: string,
  counters: Record<string, string>,
  rows: { subtract?: 'OLD'; add?: 'NEW' },
  where: string,
) => {
  const of = (row: string | undefined, sign: string, expression: string) =>
    row ? [`${sign} ${expression.replaceAll('ROW.', `${row}.`)}`] : []
  const assignments = Object.entries(counters).map(([name, expression]) => {
    const terms = [`${name} = ${name}`, ...of(rows.subtract, '-', expression), ...of(rows.add, '+', expression)]
    const line = terms.join(' ')
    return line.length > WIDTH - 10 ? terms.join('\n    ') : line
  })
  return `UPDATE ${table}\nSET ${assignments.join(',\n  ')}\nWHERE ${where}`
}
