import { describe, expect, it } from 'vitest'
import { toFoldedMemo } from '../../../src/values/quotas'
import { fold, toSortKey } from '../../../src/values/text/fold'
import { toFolded, toFoldedColumn } from '../../../src/values/text/folded-columns'

const FOLDED: [text: string, folded: string][] = [
  ['Ünder DEM Rad', 'under dem rad'],
  ["L'Étranger", "l'etranger"],
  ['Wizard’s First Rule', "wizard's first rule"],
  ['ʻOkina, ‘single’ ‹quotes›', "'okina, 'single' 'quotes'"],
  ['“double” „quotes‟ «here»', '"double" "quotes" "here"'],
  ['Spider‑Man – 1962–1963 — all', 'spider-man - 1962-1963 - all'],
  ['Straße STRAẞE', 'strasse strasse'],
  ['Ærø, Łódź, Đorđe, Œuvre, Þingvellir', 'aero, lodz, dorde, oeuvre, thingvellir'],
  ['İstanbul ILIK ılık', 'istanbul ilik ilik'],
  ['Nguyễn Nhật Ánh', 'nguyen nhat anh'],
  ['g̈ in no composed form', 'g in no composed form'],
  ['ΟΔΟΣ Ἀχιλλεύς ᾠδή', 'οδοσ αχιλλευσ ωδη'],
  ['ВОЙНА И МИР', 'война и мир'],
  ['Ёлка Її', 'елка її'],
  ['מִקְרָא', 'מִקְרָא'],
  ['がぎ', 'がぎ'],
  ['ﬁn', 'fin'],
]

describe.each(FOLDED)('%s', (text, folded) => {
  it.each(['NFC', 'NFD'])(`is folded to ${folded} from %s, and again to the same`, (form) => {
    expect(fold(text.normalize(form))).toBe(folded.normalize('NFC'))
    expect(fold(folded)).toBe(folded.normalize('NFC'))
  })
})

it.each([
  ['"Hello" he said', 'hello" he said'],
  ['¿Qué?', 'que?'],
  ['…and then', 'and then'],
  ['#1', '1'],
  ['「呪術」', '呪術」'],
  ['...', '...'],
  [' ', ' '],
  ['😀 faces', '😀 faces'],
  ['$100', '$100'],
])('sorts %s by %s', (text, key) => {
  expect(toSortKey(text)).toBe(key)
})

it.each(['Demian', '데미안', "wizard's", 'spider-man', '', null, undefined])('stores %s only once', (text) => {
  expect(toFoldedColumn(text)).toBeNull()
})

it('folds the given fields of a book that search finds', () => {
  expect(toFolded({ title: 'É', subtitle: 'a', publisher: null })).toEqual({
    ...{ titleFolded: 'e', subtitleFolded: null, publisherFolded: null },
  })
})

it('keeps 30 of the combining marks that follow each other', () => {
  const folded = fold(`ב${'\u05b0'.repeat(40)} É${'\u0301'.repeat(40)} É`)
  expect(folded).toBe(`ב${'\u05b0'.repeat(30)} e e`)
})

it('stores no folded memo that is far longer than its text, as NFC of a musical symbol is', () => {
  const note = '\u{1d160}'
  expect(toFoldedMemo(note.repeat(20))).toBe(note.normalize('NFC').repeat(20))
  expect(toFoldedMemo(note.repeat(1000))).toBeNull()
  expect(toFoldedMemo('Ü'.repeat(1000))).toBe('u'.repeat(1000))
  expect(toFoldedMemo('"as it is')).toBeNull()
  expect(toFoldedMemo(undefined)).toBeNull()
})
