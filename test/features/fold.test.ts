import { expect, it } from 'vitest'
import { fold, toFoldedColumn } from '../../src/fold'

it.each([
  ['Ünder DEM Rad', 'ünder dem rad'],
  ['ВОЙНА И МИР', 'война и мир'],
  ['Straße', 'strasse'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['İstanbul ILIK ılık', 'istanbul ilik ilik'],
  ['데미안'.normalize('NFD'), '데미안'],
])('folds %s', (text, folded) => {
  expect(fold(text)).toBe(folded)
  expect(toFoldedColumn(text)).toBe(folded)
})

it.each(['Demian', '데미안', 'über uns', '', null, undefined])('stores %s only once', (text) => {
  expect(toFoldedColumn(text)).toBeNull()
})
