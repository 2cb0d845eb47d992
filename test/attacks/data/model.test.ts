import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { newEmail, readerWith, send } from '../../support/api'
import { memberDatabase, memberHome, memberSlot } from '../../support/database'
import { insertMemberAt } from '../../support/home'
import { type Send, tryModel } from '../../support/model/run'
import { UNLIMITED } from '../../support/rate-limits'

const { SEED } = env as typeof env & { SEED: number }

const connect = async (): Promise<Send> => {
  const email = newEmail()
  const { token } = await insertMemberAt(memberHome(), env.JWT_SECRET ?? '', email)
  const member = readerWith(email, token, (method, path, options) =>
    send(method, path, { ...options, changed: UNLIMITED }),
  )
  return ({ method, path, body }) => member.send(method, path, { body })
}

/** `npm run attack -- model` tries 10,000. */
const SAMPLES = [
  { sequences: 5, seed: SEED, tags: [] },
  { sequences: 5, seed: SEED + 1, tags: [] },
  { sequences: memberSlot() === 0 ? 100 : 50, seed: SEED, tags: ['slow'] },
]

for (const { sequences, seed, tags } of SAMPLES) {
  const title = `answers every request as a plain model does, after ${sequences} random sequences (SEED=${seed})`
  it(title, { tags }, async () => {
    const tried = await tryModel(connect, { numRuns: sequences, seed })
    expect(tried.failure).toBe(undefined)
    expect(tried.sequences).toBe(sequences)
    expect(await findMismatches(memberDatabase())).toEqual([])
  })
}
