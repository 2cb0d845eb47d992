// @module-tag one-slot
import { expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { changeDatabase, memberDatabase } from '../../support/database'
import { runHistory } from '../../support/interleaved/histories'
import { connectMember } from '../../support/model/member'
import { jitter } from '../../support/service/jitter'
import { wrapDatabase } from '../../support/wrap-database'

/** `npm run attack -- interleaved` runs 2,000. */
const SAMPLES = [
  { histories: 2, seed: 1, tags: [] },
  { histories: 25, seed: 1000, tags: ['slow'] },
]

for (const { histories, seed, tags } of SAMPLES) {
  const title = `answers overlapping requests as in some order that their times allow, in ${histories} random histories`
  it(title, { tags }, async () => {
    const changed = changeDatabase(wrapDatabase(memberDatabase(), jitter))
    let overlapping = 0
    for (let n = 0; n < histories; n++) {
      const history = await runHistory(await connectMember(changed), seed + n)
      expect(history.problem).toBe(undefined)
      overlapping += history.overlapping
    }
    expect(overlapping).toBeGreaterThan(2 * histories)
    expect(await findMismatches(memberDatabase())).toEqual([])
  })
}
