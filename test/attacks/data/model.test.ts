// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { memberDatabase } from '../../support/database'
import { connectMember } from '../../support/model/member'
import { tryModel } from '../../support/model/run'

const { SEED } = env as typeof env & { SEED: number }

// `npm run attack -- model` tries 10,000 sequences, and CI 20 of them.
it.each([SEED, SEED + 1])('answers as a plain model does, after five random sequences (SEED=%i)', async (seed) => {
  const tried = await tryModel(connectMember, { numRuns: 5, seed })
  expect(tried.failure).toBe(undefined)
  expect(tried.sequences).toBe(5)
  expect(await findMismatches(memberDatabase())).toEqual([])
})
