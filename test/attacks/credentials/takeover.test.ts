import { env } from 'cloudflare:workers'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { sweep } from '../../../src/sweep'
import { findProblems } from '../../support/accounts/email-changes'
import { newNetwork } from '../../support/accounts/mailed-codes'
import { send } from '../../support/api'
import { memberDatabase, memberHome } from '../../support/database'
import { unlimited } from '../../support/rate-limits'
import { injectFault } from '../failures/faults/inject'
import type { Stage } from '../failures/faults/subjects'
import { runChain } from './takeover/chains'
import { explore } from './takeover/explore'
import { RULES, type Rule } from './takeover/model'
import { countReturns, createChains, EXPELLED_THIEF } from './takeover/samples'

const stage: Stage = {
  request: async ({ method, path, token, body }) => {
    const { env: reporting, report } = injectFault(env)
    const headers = { 'CF-Connecting-IP': newNetwork(), ...(token && { Authorization: `Bearer ${token}` }) }
    const changed = { ...reporting, NETWORK_LIMIT: unlimited, WRITE_LIMIT: unlimited }
    const answer = await send(method, path, { headers, changed, body })
    const { headers: reported } = report(new Response(), 0)
    return { ...answer, headers: new Headers([...answer.headers, ...reported]) }
  },
  secret: env.JWT_SECRET ?? '',
  home: memberHome(),
  bucket: env.IMAGES,
  lists: env.CATALOGUE,
}

/** `npm run attack -- takeover` explores chains of seven actions and runs more of them. */
const [LENGTH, SEED] = [5, 2026]
const CHAINS = createChains(8, 7, SEED)

const SLOW = { tags: ['slow'] }

describe.each([1, 2])('the model of a thief and the owner (slots: %i)', (slots) => {
  it(`lets the owner recover the account after every chain of up to ${LENGTH} actions`, () => {
    const { violation, states } = explore(slots, LENGTH)
    expect(violation).toBe(undefined)
    expect(states).toBeGreaterThan(1000)
  })

  it.each((Object.keys(RULES) as Rule[]).filter((rule) => slots > 1 || rule !== 'release'))(
    'needs the rule "%s"',
    (rule) => {
      expect(explore(slots, LENGTH, rule).violation).toBeTypeOf('string')
    },
  )
})

describe('the service behaves like the model', () => {
  afterAll(async () => {
    await sweep({ ...env } as never, Date.now() + 100_000)
    expect(await findProblems()).toEqual([])
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('when an expelled thief tries to take the account back', SLOW, async () => {
    expect(await runChain(stage, EXPELLED_THIEF)).toBe(undefined)
  })

  it('in chains with several returns', () => {
    expect(countReturns(CHAINS)).toBeGreaterThanOrEqual(6)
  })

  const run = async (_: number, chain: (typeof CHAINS)[number]) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await runChain(stage, chain)).toBe(undefined)
  }
  const numbered = CHAINS.map((chain, n) => [n, chain] as const)
  it.each(numbered.slice(0, 1))(`in chain %i (seed ${SEED})`, run)
  it.each(numbered.slice(1))(`in chain %i (seed ${SEED})`, SLOW, run)
})
