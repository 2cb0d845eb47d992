import { type Action, apply, canAct, initialState, listActions, type Rule, type State } from './model'
import { findStepViolation, findViolation } from './properties'

const describe = ({ by, kind, fault, ...more }: Action) =>
  [`${by}: ${kind}`, 'to' in more && more.to, 'session' in more && `(session ${more.session})`, fault]
    .filter(Boolean)
    .join(' ')

type Node = { state: State; path?: { action: Action; from: Node }; next?: Node[] }

const pathOf = ({ path }: Node): string[] => (path ? [...pathOf(path.from), describe(path.action)] : [])

type Exploration = {
  states: number
  /** How many chains there are, and how many of them have each end. */
  chains: number
  ends: Partial<Record<NonNullable<State['end']>, number>>
  /** The first violation, with the chain that leads to it. */
  violation?: string
}

/**
 * Explores all chains of up to `length` actions, each state once. Stops at the first violation.
 * @param off a rule to leave out
 */
export const explore = (slots: number, length: number, off?: Rule): Exploration => {
  const actions = listActions(slots)
  const start: Node = { state: initialState(slots) }
  const known = new Map([[JSON.stringify(start.state), start]])
  const expand = (from: Node): { next: Node[]; violation?: string } => {
    const next: Node[] = []
    for (const action of actions.filter((each) => canAct(from.state, each))) {
      const state = apply(from.state, action, off)
      const key = JSON.stringify(state)
      const node = known.get(key) ?? { state, path: { action, from } }
      const violation =
        findStepViolation(from.state, action, state) ?? (known.has(key) ? undefined : findViolation(state, off))
      if (violation) return { next, violation: `${[...pathOf(from), describe(action)].join('; ')}: ${violation}` }
      known.set(key, node)
      next.push(node)
    }
    return { next }
  }
  const found: Exploration = { states: 0, chains: 0, ends: {} }
  // How many chains lead to each state.
  let layer = new Map([[start, 1]])
  for (let step = 0; step < length; step++) {
    const following = new Map<Node, number>()
    for (const [node, chains] of layer) {
      if (!node.next) {
        const { next, violation } = expand(node)
        if (violation) return { ...found, violation }
        node.next = next
      }
      for (const each of node.next) following.set(each, (following.get(each) ?? 0) + chains)
    }
    layer = following
    for (const [{ state }, chains] of layer) {
      found.chains += chains
      if (state.end) found.ends[state.end] = (found.ends[state.end] ?? 0) + chains
    }
  }
  return { ...found, states: known.size }
}
