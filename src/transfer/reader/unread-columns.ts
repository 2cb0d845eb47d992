import { truncate } from '../../values/text/truncate'
import { type ColumnKind, MAX_SAMPLE, MAX_SAMPLES, MAX_UNREAD_COLUMNS, type UnreadColumn } from '../entries/entry'
import { findDates } from './rows/dates'
import type { Table } from './rows/table'
import { fieldOf, type UsualField } from './rows/usual-columns'
import { parseQuarters, storable } from './rows/values'
import { findStatus } from './rows/words'

/** Different values of a column that are looked at. */
const MAX_VALUES = 50

const NUMBER = /^\d{1,3}(?:[.,]\d{1,2})?$/
const HALVES = /^\d(?:[.,](?:00?|50?|25|75))?$/
const toNumber = (value: string) => Number(value.replace(',', '.'))
/** Whether the values of a column of any name can be stars: other counts seldom end at five. */
const areStars = (values: string[]) =>
  values.length > 2 &&
  values.every((value) => HALVES.test(value) && toNumber(value) <= 5) &&
  values.some((value) => toNumber(value) === 5)
const DATE = /^(?:\d{4} ?[-/.년年] ?\d{1,2} ?[-/.월月] ?\d{1,2}|\d{1,2} ?[-/.] ?\d{1,2} ?[-/.] ?(?:\d{4}|\d\d)(?!\d))/u
/** Not a number of up to seven digits, such as a year. */
const isDate = (value: string) => DATE.test(value) || (/\D|\d{8}/.test(value) && Boolean(findDates(value)))

const STATUS_NAME =
  /stat(?:us|e|o|ut)(?!\p{L})|(?<!\p{L})(?:stan|stav|durum|tila|état)(?!\p{L})|shelf|progress|상태|estado|situa[cç]|lesestand|ステータス|状態|状況|状况|статус|^\W*(?:already |have )?(?:read|finished|gelesen|lido|leído|lu|letto|gelezen|läst|læst|lest|luettu|przeczytan[ae]|okundu|읽음|読了|已读|прочитано)\W*$/iu
const RATING_NAME =
  /rating|(?<!\p{L})(?:rate[ds]?|karakter|puan|cijfer)(?!\p{L})|stars?\b|score|grade\b|points\b|sterne|별점|평점|평가|점수|評価|評分|评分|点数|得分|打分|wertung|punkte|califica|puntu|valora|avalia|[ée]valuation|оценка|оцінка|voto|beoordeling|betyg|poäng|ocena|hodnocen|arvosana|értékelés/iu
/** Names of columns that summarize the ratings of others. */
const OF_OTHERS = /average|avg|mean\b|count|number|total|community|평균|평점 ?수|durchschnitt|promedio|média|moyenne/iu
const DATE_NAME = /date|datum|fecha|\bdata\b|날짜|[일日]$|дата|finished|started|read on|gelesen am/iu

const YEAR = /^(?:19|20)\d\d(?:\.0)?$/
/** Names of columns that have the year of a reading, not of a book. */
const READ_NAME = /\bread\b|finish|gelesen|le[ií]d|lid[oa]|\blue?s?\b|lectur|leitura|읽|독서|완독|読|读|прочит/iu

/** The kinds of usual columns. If a file has several for a field, only one is read. */
const KINDS: Partial<Record<UsualField, ColumnKind>> = {
  status: 'STATUS',
  rating: 'RATING',
  startedAt: 'DATE',
  finishedAt: 'DATE',
  addedAt: 'DATE',
}

/** The kind of a column, by most of its distinct values; else by its name, if the values can be of that kind. */
const kindOf = (name: string, values: string[]): ColumnKind | undefined => {
  const most = (test: (value: string) => unknown, share = 0.8) => values.filter(test).length >= share * values.length
  const isShort = values.length < MAX_VALUES && most((value) => value.length <= MAX_SAMPLE, 0.5)
  if (most(isDate) || (READ_NAME.test(name) && most((value) => YEAR.test(value)))) return 'DATE'
  if (most((value) => !NUMBER.test(value) && parseQuarters(value))) return 'RATING'
  if (most(findStatus, 0.6)) return 'STATUS'
  const field = fieldOf(name)
  const kind = field && KINDS[field]
  if (!OF_OTHERS.test(name)) {
    if (areStars(values)) return 'RATING'
    if ((kind === 'RATING' || RATING_NAME.test(name)) && most((value) => NUMBER.test(value))) return 'RATING'
  }
  if ((kind === 'DATE' || DATE_NAME.test(name)) && most((value) => /\d/.test(value))) return 'DATE'
  return (kind === 'STATUS' || STATUS_NAME.test(name)) && isShort ? 'STATUS' : undefined
}

/** Finds the columns that are not read although they look like data of the member: a status, a rating or a date. */
export const findUnread = ({ rows, header, placeOf }: Table, isRead: (name: string) => boolean): UnreadColumn[] => {
  const unread: UnreadColumn[] = []
  for (const column of header) {
    if (isRead(column) || unread.length === MAX_UNREAD_COLUMNS) continue
    const at = placeOf(column)
    const found = new Set<string>()
    for (const { cells } of rows) {
      const value = cells[at]?.trim()
      if (value && found.size < MAX_VALUES) found.add(value)
    }
    const values = [...found]
    const looksLike = values.length > 0 ? kindOf(column, values) : undefined
    const samples = values.slice(0, MAX_SAMPLES).map((value) => truncate(storable(value), MAX_SAMPLE))
    if (looksLike) unread.push({ column, looksLike, samples })
  }
  return unread
}
