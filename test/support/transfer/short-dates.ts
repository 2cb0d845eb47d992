// What short dates can mean, without code of src: all orders are tried.

export type Order = 'YMD' | 'DMY' | 'MDY'
const ORDERS: Order[] = ['YMD', 'DMY', 'MDY']
const BY_LANGUAGE: Record<string, Order> = {
  Korean: 'YMD',
  Japanese: 'YMD',
  German: 'DMY',
  French: 'DMY',
  Portuguese: 'DMY',
}

/** A date in one order. Undefined if there is no such day, or if the year has neither two nor four digits. */
const readAs = (cell: string, order: Order) => {
  const parts = cell.split(/\D+/).filter(Boolean)
  const of = (name: string) => parts[order.indexOf(name)] ?? ''
  if (![2, 4].includes(of('Y').length) || of('M').length > 2 || of('D').length > 2) return undefined
  if (order === 'MDY' && cell.includes('.')) return undefined
  const year = of('Y').length === 4 ? Number(of('Y')) : Number(of('Y')) + (Number(of('Y')) < 70 ? 2000 : 1900)
  const date = new Date(Date.UTC(year, Number(of('M')) - 1, Number(of('D'))))
  const isDay = date.getUTCMonth() + 1 === Number(of('M')) && date.getUTCDate() === Number(of('D'))
  return isDay ? date.toISOString().slice(0, 10) : undefined
}

const isPast = (date: string) => Date.parse(date) <= Date.now() + 86_400_000
const ordersOf = (cell: string) => {
  const valid = ORDERS.filter((order) => readAs(cell, order))
  const past = valid.filter((order) => isPast(readAs(cell, order) ?? ''))
  return past.length > 0 ? past : valid
}

/** The order of a column, if only one is possible, or only one of these is usual in the language. */
export const orderOfColumn = (cells: string[], language: string) => {
  const possible = ORDERS.filter((order) => cells.every((cell) => ordersOf(cell).includes(order)))
  const usual = possible.filter((order) => order === (BY_LANGUAGE[language] ?? order))
  return possible.length === 1 ? possible[0] : usual.length === 1 ? usual[0] : undefined
}

/** All that a date can be. */
export const readingsOf = (cell: string, order?: Order) => [
  ...new Set((order ? [order] : ordersOf(cell)).map((order) => readAs(cell, order))),
]
