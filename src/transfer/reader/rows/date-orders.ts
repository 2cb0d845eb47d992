import type { TableRow } from '../csv-rows'
import { type DateOrder, type FoundDate, findDates, ordersOf } from './dates'

const ORDERS: DateOrder[] = ['YMD', 'DMY', 'MDY']

const EAST_ASIAN = /[\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u
/** Words of German, French, Spanish, Portuguese and Italian. Not `Titel` and `Datum`: Swedish begins with the year. */
const DAY_FIRST =
  /(?<!\p{L})(?:buchtitel|titre|t[ií]tulo|titolo|autor(?:a|as|es|in)?|auteure?|autore|verlag|[ée]diteur|editora|bewertung|note|nota|fecha|beendet|gelesen|angefangen|begonnen|termin[ée]|commenc[ée]|lu le|d[ée]but|in[ií]cio|t[ée]rmino|l[eí]+do|letto)(?!\p{L})/iu

/** How the language of a header writes short dates. All orders if it says nothing, as English, which is used everywhere. */
const ordersOfLanguage = (header: string[]) => {
  const text = header.join('\n').normalize('NFC')
  const [isEastAsian, isDayFirst] = [EAST_ASIAN.test(text), DAY_FIRST.test(text)]
  if (isEastAsian === isDayFirst) return ORDERS
  return isEastAsian ? ORDERS.slice(0, 1) : ORDERS.slice(1, 2)
}

/** The orders that all dates of each style may have. */
const ordersByStyle = (cells: Iterable<string>) => {
  const styles = new Map<string, DateOrder[]>()
  for (const cell of cells) {
    for (const date of findDates(cell.trim())?.flat() ?? []) {
      const orders = ordersOf(date)
      const left = styles.get(date.style) ?? ORDERS
      if (orders.length > 0)
        styles.set(
          date.style,
          left.filter((order) => orders.includes(order)),
        )
    }
  }
  return styles
}

const MAYBE_DATE = /^\s*\d{1,4}[-/.년年]/
function* cellsOf(rows: TableRow[]) {
  for (const { cells } of rows) for (const cell of cells) if (MAYBE_DATE.test(cell)) yield cell
}

type Dated = { header: string[]; rows: TableRow[]; placeOf: (column: string) => number }
/**
 * Finds the order of dates of one style in a column: by the dates themselves, else by the language of the header, else
 * by dates with four digits for the year, elsewhere in the table. Undefined if none of these decides.
 */
export const createOrderFinder = ({ header, rows, placeOf }: Dated) => {
  let all: Map<string, DateOrder[]> | undefined
  const ordersBeside = (style: string) => {
    all ??= ordersByStyle(cellsOf(rows))
    const [length, separator] = style.split(' ')
    const long = all.get(`long ${separator}`)
    // 2024-01-09, which is used everywhere, says nothing about short dates.
    const isYearFirst = all.has('words') || (separator !== '-' && all.has(`year ${separator}`))
    if (length === 'long' || !isYearFirst) return long ?? ORDERS
    return long ? [] : ORDERS.slice(0, 1)
  }
  const columns = new Map<string, Map<string, DateOrder[]>>()
  const found = new Map<string, DateOrder | undefined>()
  const find = (column: string, style: string) => {
    const place = placeOf(column)
    const ofColumn = columns.get(column) ?? ordersByStyle(rows.map(({ cells }) => cells[place] ?? ''))
    columns.set(column, ofColumn)
    const possible = ofColumn.get(style) ?? []
    for (const others of [() => ORDERS, () => ordersOfLanguage(header), () => ordersBeside(style)]) {
      const allowed = others()
      const [order, ...more] = possible.filter((order) => allowed.includes(order))
      if (order && more.length === 0) return order
    }
    return undefined
  }
  return (column: string, { style }: FoundDate) => {
    const key = `${style} ${column}`
    if (!found.has(key)) found.set(key, find(column, style))
    return found.get(key)
  }
}
