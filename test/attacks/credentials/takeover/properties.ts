// What must hold for every state and step of the model.
import {
  type Action,
  apply,
  canAct,
  comeToRest,
  isReturn,
  ownerOf,
  type Rule,
  SESSIONS,
  type State,
  settleEntries,
} from './model'

/** Everything that gives the thief access, now or later. */
export const holdingsOfThief = ({ inUse, undos, knowing, sessions, tokens, codes }: State) => [
  ...sessions.filter((session) => SESSIONS.thief.some((each) => each === session)).map((each) => `session ${each}`),
  ...[inUse, ...undos].filter((address) => ownerOf(address) === 'thief').map((address) => `address ${address}`),
  ...(knowing.includes('thief') ? ['password'] : []),
  ...(tokens.includes('thief') ? ['access token'] : []),
  ...(codes.includes('thief') ? ['reset code'] : []),
]

/** The ways in which the owner can recover the account, as lists of actions. */
export const listRemedies = ({ inUse, undos, knowing, sessions }: State): Action[][] => {
  const reset: Action[] = [
    { by: 'owner', kind: 'request reset' },
    { by: 'owner', kind: 'reset' },
  ]
  if (inUse === 'A') return [reset]
  if (!undos.includes('A')) return []
  const returning = knowing.includes('owner') ? SESSIONS.owner.filter((session) => sessions.includes(session)) : []
  return [
    [{ by: 'owner', kind: 'undo', to: 'A' }, ...reset],
    ...returning.map((session): Action[] => [{ by: 'owner', kind: 'change', to: 'A', session }, ...reset]),
  ]
}

const sortEntries = (entries: State['entries']) => JSON.stringify(Object.entries(entries).sort())

/** What is wrong with a state, or undefined. */
export const findViolation = (state: State, off?: Rule): string | undefined => {
  if (state.end) return undefined
  const used = [...state.undos, state.inUse]
  if (new Set(used).size < used.length) return 'an undo restores the address in use, or that of another undo'
  const atRest = sortEntries(comeToRest(state).entries)
  const expected = sortEntries(state.slots > 1 ? settleEntries({ ...state, entries: {} }, used) : {})
  if (atRest !== expected) return `the directory has ${atRest}, not ${expected}`
  const remedies = listRemedies(state)
  if (remedies.length === 0) return 'the owner has no way back'
  for (const remedy of remedies) {
    let remedied = state
    for (const action of remedy) {
      if (!canAct(remedied, action)) return `the owner cannot ${action.kind}`
      remedied = apply(remedied, action, off)
    }
    const left = holdingsOfThief(remedied)
    if (left.length > 0) return `after ${remedy.map(({ kind }) => kind).join(', ')}, the thief has ${left.join(', ')}`
  }
  return undefined
}

/** What is wrong with a step, or undefined. */
export const findStepViolation = (before: State, action: Action, after: State): string | undefined => {
  const left = holdingsOfThief(after)
  if (left.length > 0 && holdingsOfThief(before).length === 0) return `the thief gets ${left.join(', ')}`
  if (!isReturn(before, action) || action.to !== 'A' || action.fault === 'failed') return undefined
  const more = left.filter((each) => each !== `session ${action.session}`)
  return more.length > 0 ? `after the owner's return, the thief has ${more.join(', ')}` : undefined
}
