import { expect, it } from 'vitest'
import { createCases, runUploads } from '../support/statistics/random-uploads'

const SEED = Number(process.env.SEED ?? 1)

it('counts each row once, on the day of its start, whoever uploads it', () => {
  const cases = createCases()
  for (let run = 0; run < 10; run++) runUploads(SEED + run, cases)
  expect(cases['complete uploads']).toBeGreaterThan(0)
})

it('does so in 300 histories', { tags: ['slow'] }, () => {
  const cases = createCases()
  for (let run = 0; run < 300; run++) runUploads(SEED + run, cases)
  console.log(cases)
  for (const [name, count] of Object.entries(cases)) expect(count, name).toBeGreaterThan(10)
})
