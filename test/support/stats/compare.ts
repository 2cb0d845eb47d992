// Compares the statistics of random libraries with the model, which sees only the export.
import assert from 'node:assert/strict'
import { FIGURES } from '../../../src/library/stats/schema.ts'
import type { LibraryExport } from '../../../src/transfer/export/responses.ts'
import type { Send } from '../model/run.ts'
import { comparableRow, modelGoal, modelYear, modelYears } from './model.ts'
import { createRandom, randomLibrary } from './random-library.ts'
import { modelExported, modelSittings, modelTimes, type Reached, readAtRandom } from './reading-time.ts'

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

const listAll = async (send: Send, path: string) => {
  const rows = []
  for (let cursor = ''; ; ) {
    const { item, next } = await load(send, `${path}${cursor}`)
    rows.push(...item)
    if (next === null) return rows
    cursor = `&cursor=${next}`
  }
}

/**
 * Imports a random library, and compares all figures, the rows of each, the years, the goals and the sittings. Returns how many figures
 * and rows were compared.
 * @param member a new one
 * @param reached counts the cases of reading time
 */
export const compareStats = async (
  member: { database: D1Database; memberId: number; send: Send },
  seed: number,
  serviceZone: string,
  reached: Reached,
) => {
  const { send } = member
  const now = Date.now()
  const { pick } = createRandom(seed + 1)
  const library = randomLibrary(seed, now)
  await importLibrary(send, library)
  const { books, member: profile, goals }: LibraryExport = await load(send, '/export')
  assert.deepEqual({ timeZone: profile.timeZone, goals }, { timeZone: library.member.timeZone, goals: library.goals })
  assert.equal(books.length, library.books.length)
  const zoneBefore = profile.timeZone ?? serviceZone
  assert.deepEqual(await load(send, '/members/me/settings'), { timeZone: zoneBefore })
  const { devices, zone } = await readAtRandom(member, { books, zone: zoneBefore, seed, now }, reached)
  const zones = { member: zone, service: serviceZone }
  const { books: exported }: LibraryExport = await load(send, '/export')
  const times = Map.groupBy(modelTimes(books, devices, zone), ({ bookId }) => bookId)
  for (const { bookId, sittings } of exported) {
    const ofBook = times.get(bookId) ?? []
    const listed = await listAll(send, `/books/${bookId}/sittings?size=${pick([1, 2, 20])}`)
    assert.deepEqual(listed, modelSittings(ofBook), `sittings of book ${bookId}`)
    assert.deepEqual(sittings, modelExported(ofBook), `exported sittings of book ${bookId}`)
  }
  const years = modelYears(books, devices, zones)
  assert.deepEqual(await load(send, '/stats'), { years })
  const figures = pick([FIGURES.slice(0, 10), FIGURES.slice(10)])
  const size = pick([1, 3, 100])
  let rowCount = 0
  for (const year of new Set([...years, 2023])) {
    const model = modelYear(books, devices, year, zones, now)
    assert.deepEqual(await load(send, `/stats?year=${year}`), model.stats)
    for (const figure of figures) {
      const listed = await listAll(send, `/stats/rows?year=${year}&figure=${figure}&size=${size}`)
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
