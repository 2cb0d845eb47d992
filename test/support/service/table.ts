/** Formats rows as an aligned text table: the first column left-aligned, the others right-aligned. */
export const formatTable = (heading: string[], rows: string[][]) => {
  const lines = [heading, ...rows]
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = ([first = '', ...others]: string[]) =>
    [first.padEnd(widths[0] ?? 0), ...others.map((cell, at) => cell.padStart(widths[at + 1] ?? 0))].join('  ')
  return [pad(heading), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(pad)].join('\n')
}

/** Formats a number, or an empty cell. */
export const whole = (value?: number) => (value === undefined ? '' : Math.round(value).toLocaleString('en'))
/** Formats a number with decimals, or an empty cell. */
export const fixed = (value: number | undefined, digits: number) => value?.toFixed(digits) ?? ''
