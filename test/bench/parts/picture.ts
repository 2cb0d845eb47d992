import { toPicture, toStats } from '../../../src/library/stats/figures.ts'
import { drawYear } from '../../../src/library/stats/picture/draw.ts'
import { toYear } from '../../../src/library/stats/year.ts'
import { createZone } from '../../../src/values/time.ts'
import { median } from '../../support/service/http-client.ts'

const YEAR = 2018
const BOOKS = 400

const readings = Array.from({ length: BOOKS }, (_, at) => ({
  bookId: at + 1,
  readingId: at + 1,
  startedAt: `${YEAR}-01-01`,
  finishedAt: `${YEAR}-${String(1 + (at % 12)).padStart(2, '0')}-15`,
  outcome: 'FINISHED' as const,
  rating: (1 + (at % 20)) / 4,
  isReread: 0,
  format: null,
  cover: null,
  title: `The title of book ${at}, which is rather long`,
  author: `Author ${at % 120}`,
  pages: 100 + at,
  language: 'en',
  tags: '["novel","classic"]',
}))

/** The CPU time of this process for some work, in milliseconds. */
export const timeCpu = (run: () => unknown) => {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** CPU for a year of 400 books, without the database call, which both make: medians of alternating runs, in milliseconds. */
export const measurePicture = (runs: number) => {
  const zone = createZone('UTC')
  const loaded = {
    ...toYear(YEAR, { readings, events: [], memos: [], devices: [] }, zone, zone),
    undated: 0,
    backlog: { books: 0, oldestCreatedAt: null },
    today: `${YEAR}-12-31`,
  }
  const stats: number[] = []
  const picture: number[] = []
  for (let run = 0; run < runs; run++) {
    stats.push(timeCpu(() => JSON.stringify(toStats(loaded))))
    picture.push(timeCpu(() => drawYear(toPicture(loaded), { theme: 'light', size: 'card' })))
  }
  return { statsMs: median(stats), pictureMs: median(picture) }
}
