/** Formats rows as an aligned text table: the first column left-aligned, the others right-aligned. */
export const formatTable = (heading: string[], rows: string[][]) => {
  const lines = [heading, ...rows]
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (line: string[]) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
  return [pad(heading), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(pad)].join('\n')
}

export const whole = (value: number) => Math.round(value).toLocaleString('en')
export const fixed = (value: number, digits: number) => value.toFixed(digits)
