// Compares the statistics of random libraries with the model, which sees only the export.
import assert from 'node:assert/strict'
import { FIGURES } from '../../../src/library/stats/schema.ts'
import type { LibraryExport } from '../../../src/transfer/export/responses.ts'
import type { Send } from '../model/run.ts'
import { comparableRow, modelGoal, modelYear, modelYears } from './model.ts'
import { createRandom, randomLibrary } from './random-library.ts'

const load = async (send: Send, path: string) => {
  const { status, body } = await send({ method: 'GET', path })
  assert.equal(status, 200, `GET ${path}: ${JSON.stringify(body)}`)
  // biome-ignore lint/suspicious/noExplicitAny: the document is checked elsewhere
  return body as any
}

const importLibrary = async (send: Send, library: object) => {
  const { status, body } = await send({ method: 'POST', path: '/imports', body: library })
  assert.equal(status, 202, JSON.stringify(body))
  const { importId } = body as { importId: number }
  for (let state = 'RUNNING'; state === 'RUNNING'; ) {
    state = (await load(send, `/imports/${importId}`)).status
    if (state === 'RUNNING') await new Promise((done) => setTimeout(done, 5))
    else assert.equal(state, 'DONE')
  }
}

const listRows = async (send: Send, year: number, figure: string, size: number) => {
  const rows = []
  for (let cursor = ''; ; ) {
    const { item, next } = await load(send, `/stats/rows?year=${year}&figure=${figure}&size=${size}${cursor}`)
    rows.push(...item)
    if (next === null) return rows
    cursor = `&cursor=${next}`
  }
}

/**
 * Imports a random library, and compares all figures, the rows of each, the years and the goals. Returns how many figures and
 * rows were compared.
 * @param send as a new member
 */
export const compareStats = async (send: Send, seed: number, serviceZone: string) => {
  const now = Date.now()
  const { pick } = createRandom(seed + 1)
  const library = randomLibrary(seed, now)
  await importLibrary(send, library)
  const { books, member, goals }: LibraryExport = await load(send, '/export')
  assert.deepEqual({ timeZone: member.timeZone, goals }, { timeZone: library.member.timeZone, goals: library.goals })
  assert.equal(books.length, library.books.length)
  const zones = { member: member.timeZone ?? serviceZone, service: serviceZone }
  assert.deepEqual(await load(send, '/members/me/settings'), { timeZone: zones.member })
  const years = modelYears(books, zones)
  assert.deepEqual(await load(send, '/stats'), { years })
  const figures = pick([FIGURES.slice(0, 10), FIGURES.slice(10)])
  const size = pick([1, 3, 100])
  let rowCount = 0
  for (const year of new Set([...years, 2023])) {
    const model = modelYear(books, year, zones, now)
    assert.deepEqual(await load(send, `/stats?year=${year}`), model.stats)
    for (const figure of figures) {
      const listed = await listRows(send, year, figure, size)
      for (const { bookId, title, cover } of listed) {
        const book = books.find((each) => each.bookId === bookId)
        assert.deepEqual({ title, cover }, { title: book?.title, cover: book?.cover }, `rows of ${figure} in ${year}`)
      }
      const rows = listed.map(comparableRow)
      assert.deepEqual(rows.toSorted(), model.rows.get(figure), `rows of ${figure} in ${year}`)
      rowCount += rows.length
    }
  }
  for (const goal of goals)
    assert.deepEqual(await load(send, `/goals/${goal.year}`), modelGoal(books, goal, zones, now))
  return { years: years.length + 1, rows: rowCount }
}
