// @module-tag one-slot
import { expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { changeDatabase, memberDatabase } from '../../support/database'
import { runHistory } from '../../support/interleaved/histories'
import { connectMember } from '../../support/model/member'
import { jitter } from '../../support/service/jitter'
import { wrapDatabase } from '../../support/wrap-database'

// `npm run attack -- interleaved` runs 2,000 histories, and CI 40 of them.
it('answers overlapping requests as in some order that their times allow, in two random histories', async () => {
  const changed = changeDatabase(wrapDatabase(memberDatabase(), jitter))
  let overlapping = 0
  for (const seed of [1, 2]) {
    const history = await runHistory(await connectMember(changed), seed)
    expect(history.problem).toBe(undefined)
    overlapping += history.overlapping
  }
  expect(overlapping).toBeGreaterThan(4)
  expect(await findMismatches(memberDatabase())).toEqual([])
})
