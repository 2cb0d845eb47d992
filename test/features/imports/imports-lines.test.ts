// @module-tag one-slot
import { expect, it } from 'vitest'
import { emptyEntry } from '../../../src/transfer/entries/entry'
import { createLineReader, createLineWriter, READER_PROTOCOL } from '../../../src/transfer/entries/reader-protocol'
import { fieldsOf } from '../../../src/values/book-fields'
import readerConfig from '../../../wrangler.reader.toml?raw'
import serviceConfig from '../../../wrangler.toml?raw'
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

it('has the version of the protocol in the name of the reader, so that a new one does not replace the one before', () => {
  const name = `reading-library-reader-${READER_PROTOCOL}`
  expect(readerConfig).toContain(`\nname = "${name}"\n`)
  expect(serviceConfig).toContain(`\nbinding = "READER"\nservice = "${name}"\n`)
})

it('has lines of the form that belongs to the version of the protocol: raise READER_PROTOCOL with it', () => {
  const details = fieldsOf('fill').map((name) => `"${name}":null,`)
  const line =
    `{"line":1,"title":null,${details.join('')}"currentPage":null,"sourceIds":[],"addedAt":null,` +
    '"status":null,"quarters":null,"readings":[],"tags":[],"memos":[],"losses":[],"failure":null,' +
    '"cells":{"names":[],"values":[]}}'
  expect([READER_PROTOCOL, createLineWriter()(emptyEntry(1))]).toEqual([3, line])
})

it('reads lines that lack a detail of a book, which need no other version', () => {
  const { series: _, ...known } = emptyEntry(1)
  expect(createLineReader()(JSON.stringify(known))).toMatchObject({ ...known, series: null })
})
