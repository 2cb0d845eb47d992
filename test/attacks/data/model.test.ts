import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { newEmail, readerWith, send } from '../../support/api'
import { memberDatabase, memberHome, memberSlot } from '../../support/database'
import { insertMemberAt } from '../../support/home'
import { type Send, tryModel } from '../../support/model/run'
import { UNLIMITED } from '../../support/rate-limits'

const { SEED } = env as typeof env & { SEED: number }

const TIMEOUT_MS = 300_000

const connect = async (): Promise<Send> => {
  const email = newEmail()
  const { token } = await insertMemberAt(memberHome(), env.JWT_SECRET ?? '', email)
  const member = readerWith(email, token, (method, path, options) =>
    send(method, path, { ...options, changed: UNLIMITED }),
  )
  return ({ method, path, body }) => member.send(method, path, { body })
}

/** `npm run attack -- model` tries 10,000. */
const SEQUENCES = memberSlot() === 0 ? 100 : 50

it(
  `answers every request as a plain model does, after ${SEQUENCES} random sequences (SEED=${SEED})`,
  async () => {
    const { failure, sequences } = await tryModel(connect, { numRuns: SEQUENCES, seed: SEED })
    expect(failure).toBe(undefined)
    expect(sequences).toBe(SEQUENCES)
    expect(await findMismatches(memberDatabase())).toEqual([])
  },
  TIMEOUT_MS,
)
