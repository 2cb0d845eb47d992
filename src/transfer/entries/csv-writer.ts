/** Writes rows of a table (RFC 4180). Formulas stay as they are. */
export const toCsv = (rows: string[][]) => {
  const toCell = (text: string) =>
    /[",\r\n;\t]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
  return rows.map((row) => `${row.map(toCell).join()}\r\n`).join('')
}
