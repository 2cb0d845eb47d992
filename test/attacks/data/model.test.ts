// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { memberDatabase, memberSlot } from '../../support/database'
import { connectMember } from '../../support/model/member'
import { tryModel } from '../../support/model/run'

const { SEED } = env as typeof env & { SEED: number }

/** `npm run attack -- model` tries 10,000. */
const SAMPLES = [
  { sequences: 5, seed: SEED, tags: [] },
  { sequences: 5, seed: SEED + 1, tags: [] },
  { sequences: memberSlot() === 0 ? 100 : 50, seed: SEED, tags: ['slow'] },
]

for (const { sequences, seed, tags } of SAMPLES) {
  const title = `answers every request as a plain model does, after ${sequences} random sequences (SEED=${seed})`
  it(title, { tags }, async () => {
    const tried = await tryModel(connectMember, { numRuns: sequences, seed })
    expect(tried.failure).toBe(undefined)
    expect(tried.sequences).toBe(sequences)
    expect(await findMismatches(memberDatabase())).toEqual([])
  })
}
