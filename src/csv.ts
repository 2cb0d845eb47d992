const FORMULA = /^[=+\-@\t\r]/

/**
 * Writes a table (RFC 4180).
 * @param options.forSpreadsheet prefixes cells that a spreadsheet would run as formulas with `'`. Such a file is not what was sent.
 */
export const toCsv = (header: string[], rows: string[][], options: { forSpreadsheet?: boolean } = {}) => {
  const toCell = (text: string) => {
    const cell = options.forSpreadsheet && FORMULA.test(text) ? `'${text}` : text
    return /[",\r\n;\t]/.test(cell) || cell !== cell.trim() ? `"${cell.replaceAll('"', '""')}"` : cell
  }
  return [header, ...rows].map((row) => `${row.map(toCell).join()}\r\n`).join('')
}
