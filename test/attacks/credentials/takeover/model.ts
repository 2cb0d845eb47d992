// A model of an account that its owner and a thief fight for: who can do what, and what that changes. It shares no code with
// the service; chains.ts compares the two. Requesting and confirming a change of address is one action.

export type Actor = 'owner' | 'thief'
/** The owner has the mailboxes A, where the account begins, and B; the thief has T and U. */
const MAILBOXES = { owner: ['A', 'B'], thief: ['T', 'U'] } as const
export type Address = (typeof MAILBOXES)[Actor][number]
const ADDRESSES: readonly Address[] = Object.values(MAILBOXES).flat()
/** `shared`: the owner's, of which the thief has a copy. The others come from logins. */
export const SESSIONS = { owner: ['shared', 'owner'], thief: ['shared', 'thief'] } as const
export type Session = (typeof SESSIONS)[Actor][number]
const ACTORS = ['owner', 'thief'] as const

export type State = {
  inUse: Address
  /** The addresses that live undos restore, in the order of the changes. */
  undos: readonly Address[]
  /** Who knows the password. Nobody knows a void one. */
  knowing: readonly Actor[]
  sessions: readonly Session[]
  /** Who has an access token. */
  tokens: readonly Actor[]
  /** Who has a valid code to reset the password. */
  codes: readonly Actor[]
  slots: number
  /** The directory. It is empty with one slot. */
  entries: { readonly [address in Address]?: 'HELD' | 'RESERVED' | 'CLAIMED' }
  /** `late`: the undo to A has expired while another address was in use. */
  end?: `withdrawn by ${Actor}` | 'late'
}

/** `fault`, with two slots: the directory is not updated after the change, or the change in the slot fails. */
export type Action = { by: Actor; fault?: 'unconfirmed' | 'failed' } & (
  | { kind: 'change'; to: Address; session: Session }
  | { kind: 'undo'; to: Address }
  | { kind: 'change password' | 'end sessions' | 'make token' | 'withdraw'; session: Session }
  | { kind: 'log in' | 'request reset' | 'reset' | 'expiry' }
)

/** What a return to a former address does, and what keeps undos usable. Leaving out any one must break a property. */
export const RULES = {
  'is undo': 'a return is an undo of the changes since',
  'own undo': 'a return deletes the undo to its address',
  'later undos': 'a return deletes all later undos',
  'no undo': 'a return adds no undo',
  sessions: 'a return ends all other sessions',
  tokens: 'a return deletes all access tokens',
  password: 'a return voids the password',
  codes: 'a return voids mailed codes',
  release: 'a return takes, and so frees, the addresses that later changes reserved (two slots)',
  'earlier undos': 'a change or reset of the password deletes no undo',
} as const
export type Rule = keyof typeof RULES

/** Who has the mailbox. */
export const ownerOf = (address: Address): Actor =>
  MAILBOXES.owner.some((each) => each === address) ? 'owner' : 'thief'

export const settleEntries = ({ inUse, undos, entries }: State, taken: readonly Address[]): State['entries'] => {
  const settled = { ...entries }
  for (const address of taken) {
    delete settled[address]
    if (address === inUse) settled[address] = 'HELD'
    else if (undos.includes(address)) settled[address] = 'RESERVED'
  }
  return settled
}
const openOf = ({ entries }: State) => ADDRESSES.filter((address) => entries[address] === 'CLAIMED')
/** The state after the sweep has settled open claims. */
export const comeToRest = (state: State): State => ({ ...state, entries: settleEntries(state, openOf(state)) })

const restore = (state: State, to: Address): State => ({
  ...state,
  inUse: to,
  undos: state.undos.slice(0, state.undos.indexOf(to)),
  knowing: [],
  sessions: [],
  tokens: [],
  codes: [],
})

const returnTo = (state: State, to: Address, session: Session, off?: Rule): State => {
  const at = state.undos.indexOf(to)
  const [earlier, later] = [state.undos.slice(0, at), state.undos.slice(at + 1)]
  const restored = restore(state, to)
  return {
    ...restored,
    undos: [
      ...earlier,
      ...(off === 'own undo' ? [to] : []),
      ...(off === 'later undos' ? later : []),
      ...(off === 'no undo' ? [state.inUse] : []),
    ],
    knowing: off === 'password' ? state.knowing : [],
    sessions: off === 'sessions' ? state.sessions : [session],
    tokens: off === 'tokens' ? state.tokens : [],
    codes: off === 'codes' ? ACTORS.filter((actor) => [...state.codes, ownerOf(to)].includes(actor)) : [ownerOf(to)],
  }
}

/** Whether an action changes the address back to a former one. */
export const isReturn = ({ undos }: State, action: Action): action is Action & { kind: 'change' } =>
  action.kind === 'change' && undos.includes(action.to)

const addTo = <T extends string>(list: readonly T[], item: T) => [...new Set([...list, item])].sort()

const act = (state: State, action: Action, off?: Rule): State => {
  const { by } = action
  const undos = off === 'earlier undos' ? [] : state.undos
  switch (action.kind) {
    case 'change':
      if (isReturn(state, action) && off !== 'is undo') return returnTo(state, action.to, action.session, off)
      return { ...state, inUse: action.to, undos: [...state.undos, state.inUse], codes: [] }
    case 'undo':
      return restore(state, action.to)
    case 'change password':
      return { ...state, undos, knowing: [by], sessions: [action.session] }
    case 'end sessions':
      return { ...state, sessions: [action.session] }
    case 'make token':
      return { ...state, tokens: addTo(state.tokens, by) }
    case 'log in':
      return { ...state, sessions: addTo(state.sessions, by) }
    case 'request reset':
      return { ...state, codes: addTo(state.codes, ownerOf(state.inUse)) }
    case 'reset':
      return { ...state, undos, knowing: [by], sessions: [], tokens: [], codes: [] }
    case 'withdraw':
      return { ...restore(state, state.inUse), undos: [], entries: {}, end: `withdrawn by ${by}` }
    case 'expiry': {
      const [expired, ...rest] = state.undos
      const entries = { ...state.entries }
      if (expired && entries[expired] === 'RESERVED') delete entries[expired]
      return { ...state, undos: rest, entries, ...(expired === 'A' && state.inUse !== 'A' && { end: 'late' as const }) }
    }
  }
}

/** The directory's part: the flow takes addresses under one claim, acts in the slot, and records the outcome. */
const actInSlot1 = (before: State, action: Action & { to: Address }, off?: Rule): State => {
  const state = comeToRest(before)
  const at = state.undos.indexOf(action.to)
  const releases = at >= 0 && (action.kind === 'undo' || (off !== 'release' && off !== 'is undo'))
  const later = releases ? state.undos.slice(at + 1).filter((address) => state.entries[address] === 'RESERVED') : []
  const taken = [state.inUse, action.to, ...later]
  const changed = action.fault === 'failed' ? state : act(state, action, off)
  if (!action.fault) return { ...changed, entries: settleEntries(changed, taken) }
  return { ...changed, entries: { ...state.entries, ...Object.fromEntries(taken.map((each) => [each, 'CLAIMED'])) } }
}

/** The state after an action that `canAct` allows. `off`: a rule to leave out. */
export const apply = (state: State, action: Action, off?: Rule): State =>
  'to' in action && state.slots > 1 ? actInSlot1(state, action, off) : act(state, action, off)

export const canAct = (state: State, action: Action): boolean => {
  const { by } = action
  if (state.end) return false
  if ('session' in action && !state.sessions.includes(action.session)) return false
  switch (action.kind) {
    case 'change':
      return state.knowing.includes(by) && ownerOf(action.to) === by && state.inUse !== action.to
    case 'undo':
      return state.undos.includes(action.to)
    case 'log in':
      return state.knowing.includes(by)
    case 'request reset':
      return ownerOf(state.inUse) === by
    case 'reset':
      return state.codes.includes(by)
    case 'expiry':
      return state.undos.length > 0
    default:
      return true
  }
}

/** Everything that someone may try, whether or not it works. */
export const listActions = (slots: number): Action[] => {
  const faults = slots > 1 ? ([undefined, 'unconfirmed', 'failed'] as const) : [undefined]
  const ofActor = (by: Actor): Action[] => [
    ...MAILBOXES[by].flatMap((to) =>
      faults.flatMap((fault) => [
        ...SESSIONS[by].map((session): Action => ({ by, kind: 'change', to, session, ...(fault && { fault }) })),
        { by, kind: 'undo', to, ...(fault && { fault }) } as const,
      ]),
    ),
    ...SESSIONS[by].flatMap((session) =>
      (['change password', 'end sessions', 'make token', 'withdraw'] as const).map(
        (kind): Action => ({ by, kind, session }),
      ),
    ),
    ...(['log in', 'request reset', 'reset'] as const).map((kind): Action => ({ by, kind })),
  ]
  return [...ACTORS.flatMap(ofActor), { by: 'owner', kind: 'expiry' }]
}

export const initialState = (slots: number): State => ({
  inUse: 'A',
  undos: [],
  knowing: ['owner', 'thief'],
  sessions: ['shared'],
  tokens: [],
  codes: [],
  slots,
  entries: slots > 1 ? { A: 'HELD' } : {},
})
