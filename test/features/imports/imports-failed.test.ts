import { describe, expect, it } from 'vitest'
import { parseTable } from '../../../src/transfer/reader/csv-rows'
import { type Reader, signUp } from '../../support/api'
import { measure } from '../../support/database'
import { refusing } from '../../support/rate-limits'
import { settle } from '../../support/runtime/concurrent'
import * as transfer from '../../support/transfer/imports'
import { importFile } from '../../support/transfer/imports'

const download = (reader: Reader, importId: number) => transfer.download(reader, `/imports/${importId}/failed.csv`)

const CELL_BYTES = 80_000
/** A file of rows without titles. */
const largeFile = (rows: number) =>
  ['Title,Author,Review', ...Array.from({ length: rows }, (_, n) => `,Author ${n},${'x'.repeat(CELL_BYTES)}`)].join(
    '\n',
  )

describe('the table of failed rows', () => {
  it('has the columns of the file, in the order in which they appear', async () => {
    const reader = await signUp()
    const columns = ['a "quoted" \\ name', '메모', 'constructor', '__proto__']
    // In JSON, unlike in an object literal, __proto__ is a name like any other.
    const others = columns.map((name) => `${JSON.stringify(name)}:"of ${name.length}"`)
    const file = `{
      "1":{"title":"","books_id":"1"},
      "2":{"books_id":"2",${others}},
      "3":{"title":"Tide","books_id":"3","kept":"here"},
      "4":{},
      "5":{"comment":"last","메모":"x","books_id":"5","${'n'.repeat(501)}":"left out"}
    }`
    const { importId, counts } = await importFile(reader, file)
    expect(counts).toMatchObject({ created: 1, failed: 4 })
    const [header, ...rows] = parseTable((await reader.get(`/imports/${importId}/failed.csv`)).body)
    expect(header?.cells).toEqual(['title', 'books_id', ...columns, 'kept', 'comment'])
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['', '1', '', '', '', '', '', ''],
      ['', '2', ...columns.map((name) => `of ${name.length}`), '', ''],
      ['', '5', '', 'x', '', '', '', 'last'],
    ])
  })

  it('has as many columns as a table may have', async () => {
    const reader = await signUp()
    const columns = Array.from({ length: 250 }, (_, n) => [`column ${n}`, 'x'])
    const file = { 1: { title: '', books_id: '1' }, 2: Object.fromEntries(columns) }
    const { importId } = await importFile(reader, JSON.stringify(file))
    const [header] = parseTable((await reader.get(`/imports/${importId}/failed.csv`)).body)
    expect(header?.cells).toEqual(['title', 'books_id', ...columns.slice(0, 198).map(([name]) => name)])
  })

  it('is loaded in pages of at most 256 KiB', async () => {
    const reader = await signUp()
    const { importId } = await importFile(reader, largeFile(60))
    const sizes: number[] = []
    const { calls } = await measure(async () => {
      const response = await download(reader, importId)
      for await (const chunk of response.body ?? []) sizes.push(chunk.length)
    })
    expect(Math.max(...sizes)).toBeLessThan(256 * 1024)
    expect(sizes.reduce((total, size) => total + size)).toBeGreaterThan(60 * CELL_BYTES)
    expect(calls).toBe(1 + 60 / 3)
  })

  it('is loaded in one call if it is small', async () => {
    const reader = await signUp()
    const { importId } = await importFile(reader, largeFile(2))
    const { calls } = await measure(async () => {
      expect(parseTable(await (await download(reader, importId)).text())).toHaveLength(3)
    })
    expect(calls).toBe(1)
  })

  it.each(['failed.csv', 'rows?page=1&size=5&outcome=failed'])('is limited per member: %s', async (name) => {
    const reader = await signUp()
    const { importId } = await importFile(reader, largeFile(1))
    const path = `/imports/${importId}/${name}`
    expect((await reader.get(path)).status).toBe(200)
    // The request that exceeds the limit is answered before it is counted.
    expect((await reader.send('GET', path, { changed: { MEMBER_LIMIT: refusing } })).status).toBe(200)
    expect((await reader.get(path)).status).toBe(429)
  })

  it('waits while a member has many large lists loading', async () => {
    const reader = await signUp()
    const { importId } = await importFile(reader, largeFile(4))
    const open = await Promise.all(Array.from({ length: 6 }, () => download(reader, importId)))
    let isAnswered = false
    const next = download(reader, importId).finally(() => {
      isAnswered = true
    })
    await settle()
    expect(isAnswered).toBe(false)
    await open[0]?.body?.cancel()
    expect((await next).status).toBe(200)
    await Promise.all([...open.slice(1), await next].map(({ body }) => body?.cancel()))
  })
})
