// @module-tag one-slot
import { expect, it } from 'vitest'
import { signUp } from '../../support/api'
import { compareLists, type Reached } from '../../support/lists/compare'

/** `npm run attack -- lists` compares 10,000 lists, also of libraries that one page does not examine. */
const SAMPLES = [
  { size: 14, queries: 40, tags: [] },
  { size: 400, queries: 30, tags: ['slow'] },
]

for (const { size, queries, tags } of SAMPLES) {
  const title = `lists what a plain model lists, for ${queries} random filters and sorts of ${size} books, also while they change`
  it(title, { tags }, async () => {
    const reader = await signUp()
    const reached: Reached = new Map()
    await compareLists(
      ({ method, path, body }) => reader.send(method, path, { body }),
      400 + size,
      size,
      queries,
      reached,
    )
    expect(reached.get('lists with books')).toBeGreaterThan(queries / 5)
    expect(reached.get('lists of a changing library')).toBeGreaterThan(queries / 40)
  })
}
