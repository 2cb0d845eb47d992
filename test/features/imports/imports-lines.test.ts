import { expect, it } from 'vitest'
import { createLineReader, createLineWriter } from '../../../src/transfer/entry-lines'
import librarythingJson from '../../fixtures/imports/librarything.json?raw'
import { read } from '../../support/transfer/import-files'

it('reads lines back as the entries they were written from, with column names only in the first line of a table', () => {
  const table = read('Title,Author,__proto__\nA,Mina Oh,1\nB,Mina Oh,2\nC,Mina Oh\n').entries
  const entries = [...table, ...read(librarythingJson).entries, ...table]
  const lines = entries.map(createLineWriter())
  expect(lines.map(createLineReader())).toEqual(entries.map((entry) => ({ ...entry, size: expect.any(Number) })))
  expect(lines.slice(0, 3).map((line) => line.includes('"names"'))).toEqual([true, false, false])
})

it('counts column names in the size of each entry', () => {
  const { entries } = read(`Title,${'x'.repeat(100)}\nA,1\nB,2\n`)
  const lines = entries.map(createLineWriter())
  const [first, second] = lines.map(createLineReader())
  expect(first?.size).toBe(lines[0]?.length)
  expect(second?.size).toBe((lines[1]?.length ?? 0) + 105)
})
