// A thief with the password and a copied session fights the owner for the account: all chains in a model, some against the
// service.
import { findDirectoryProblems } from '../../support/accounts/directory'
import { whole } from '../../support/service/table'
import { toStage } from '../failures/faults'
import { type Attack, mapConcurrently, type Report } from '../harness/attack'
import { runChain } from './takeover/chains'
import { explore } from './takeover/explore'
import { RULES, type Rule } from './takeover/model'
import { countReturns, createChains, EXPELLED_THIEF } from './takeover/samples'

/** Every rule is needed only in chains of at least five. */
const [LENGTH, QUICK_LENGTH] = [7, 5]
const CONCURRENCY = 4

const exploreAll = (slots: number, length: number, progress: (line: string) => void): Report => {
  progress(`exploring all chains of ${length} actions (slots: ${slots})`)
  const { states, chains, ends, violation } = explore(slots, length)
  const rules = (Object.keys(RULES) as Rule[]).filter((rule) => slots > 1 || rule !== 'release')
  const unneeded = rules.filter((rule) => !explore(slots, length, rule).violation)
  const of = `chains of up to ${length} actions of owner and thief, ${slots === 1 ? 'one slot' : 'two slots with faults'}`
  const withdrawn = whole(ends['withdrawn by thief'] ?? 0)
  const exceptions = `except ${withdrawn} in which the thief deletes the account, and ${whole(ends.late ?? 0)} in which the owner waits for over 72 hours`
  return {
    figures: [
      [
        of,
        chains,
        `${whole(states)} states: the owner can end with the account, and the thief with nothing, ${exceptions}`,
      ],
      ['of these rules, left out one at a time, each is needed', rules.length, `${unneeded.length} not needed`],
    ],
    failures: [...(violation ? [violation] : []), ...unneeded.map((rule) => `not needed: ${RULES[rule]}`)],
  }
}

export const takeover: Attack = async ({ quick, seed, slots, progress, start }) => {
  const length = quick ? QUICK_LENGTH : LENGTH
  const explored = [1, 2].map((each) => exploreAll(each, length, progress))
  const service = await start({ entry: 'test/attacks/workers/faulty.ts', writesPerMinute: 1e9 })
  const stage = toStage(service)
  const chains = [EXPELLED_THIEF, ...createChains(quick ? 4 : 120, LENGTH, seed)]
  let done = 0
  const differences = await mapConcurrently(CONCURRENCY, chains, async (chain) => {
    done += 1
    if (done % 20 === 0) progress(`${done} of ${chains.length} chains against the service`)
    return runChain(stage, chain)
  })
  await service.runCron()
  const failures = differences.flatMap((each) => each ?? [])
  const mismatches = await service.findMismatches()
  failures.push(...mismatches)
  if (slots > 1) failures.push(...(await findDirectoryProblems(service.databases, service.addressKey)))
  return {
    figures: [
      ...explored.flatMap(({ figures }) => figures),
      [
        'random chains run against the service',
        chains.length,
        `with ${countReturns(chains)} returns: ${failures.length} differ from the model`,
      ],
    ],
    failures: [...explored.flatMap(({ failures }) => failures), ...failures],
  }
}
