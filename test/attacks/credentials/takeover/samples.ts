// Chains of the model's actions to run against the service.
import { randomFrom } from '../../../support/inputs/malformed-files'
import type { Chain } from './chains'
import { type Action, apply, canAct, initialState, isReturn, listActions, type State } from './model'
import { listRemedies } from './properties'

/** What the thief tries after the owner's remedy. */
const LAST_ATTEMPTS: Chain = [
  { by: 'thief', kind: 'undo', to: 'T' },
  { by: 'thief', kind: 'reset' },
  { by: 'thief', kind: 'log in' },
]

/**
 * Random chains of up to `length` actions, then a remedy of the owner, and what the thief tries after it.
 * Most actions concern the address, and return to a former one where that is possible. One in six must be refused. Withdrawals,
 * which end a chain, are rare.
 */
export const createChains = (count: number, length: number, seed: number): Chain[] => {
  const random = randomFrom(seed)
  const actions = listActions(1)
  const pick = (state: State) => {
    const isAllowed = random(6) > 0
    const tried = actions.filter((action) => {
      // Anyone may request a reset, and the mail goes to the mailbox in use.
      if (!isAllowed && (action.kind === 'request reset' || action.kind === 'expiry')) return false
      return canAct(state, action) === isAllowed && (action.kind !== 'withdraw' || random(10) === 0)
    })
    const preferred = [tried.filter((action) => isReturn(state, action)), tried.filter((action) => 'to' in action)]
    const choice = preferred.find(({ length }) => length > 0 && random(2) > 0) ?? tried
    const kinds = [...Map.groupBy(choice, ({ kind, by }) => `${kind} ${by}`).values()]
    const ofKind = kinds[random(kinds.length)] ?? []
    return ofKind[random(ofKind.length)]
  }
  return Array.from({ length: count }, () => {
    const chain: Action[] = []
    let state = initialState(1)
    while (chain.length < length && !state.end) {
      const action = pick(state)
      if (!action) break
      chain.push(action)
      if (canAct(state, action)) state = apply(state, action)
    }
    if (state.end === 'late') return chain
    const remedies = state.end ? [] : listRemedies(state)
    return [...chain, ...(remedies[random(remedies.length || 1)] ?? []), ...LAST_ATTEMPTS]
  })
}

/** How many steps of the chains return to a former address. */
export const countReturns = (chains: Chain[]) => {
  let returns = 0
  for (const chain of chains) {
    let state = initialState(1)
    for (const action of chain) {
      if (!canAct(state, action)) continue
      if (isReturn(state, action)) returns += 1
      state = apply(state, action)
    }
  }
  return returns
}

/** A thief changes the address. The owner returns, sets a new password and ends all sessions; the thief then tries to come back. */
export const EXPELLED_THIEF: Chain = [
  { by: 'thief', kind: 'log in' },
  { by: 'thief', kind: 'change', to: 'T', session: 'thief' },
  { by: 'owner', kind: 'change', to: 'A', session: 'shared' },
  { by: 'owner', kind: 'change password', session: 'shared' },
  { by: 'owner', kind: 'end sessions', session: 'shared' },
  { by: 'thief', kind: 'undo', to: 'T' },
  { by: 'thief', kind: 'log in' },
]
