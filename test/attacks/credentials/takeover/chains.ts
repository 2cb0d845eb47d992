// Sends chains of the model's actions to the service as real requests, and compares each step with the model.
import { insertMemberAt } from '../../../support/home'
import type { Stage } from '../../failures/faults/subjects'
import {
  type Action,
  type Actor,
  type Address,
  apply,
  canAct,
  initialState,
  ownerOf,
  type Session,
  type State,
} from './model'

export type Chain = readonly Action[]

const PASSWORD = 'correct-horse-1'
/** An undo code names the slot. */
const UNDO_CODE = /^\d{4}(?:-[0-9A-Z]{5}){6}$/
let members = 0

/** What owner and thief have received so far, valid or not. */
type Possessions = {
  emails: Record<Address, string>
  tokens: Partial<Record<Session, string>>
  accessTokens: Partial<Record<Actor, string>>
  passwords: Record<Actor, string>
  resetCodes: Partial<Record<Actor, { email: string; code: string }>>
  undoCodes: Partial<Record<Address, string>>
}
type Run = { stage: Stage; memberId: number; has: Possessions }

const start = async (stage: Stage): Promise<Run> => {
  const n = ++members
  const toEmail = (address: string) => `${address.toLowerCase()}-${n}-${crypto.randomUUID()}@takeover.example`
  const emails = { A: toEmail('A'), B: toEmail('B'), T: toEmail('T'), U: toEmail('U') }
  const { memberId, token } = await insertMemberAt(stage.home, stage.secret, emails.A)
  const passwords = { owner: PASSWORD, thief: PASSWORD }
  const has = { emails, tokens: { shared: token }, accessTokens: {}, passwords, resetCodes: {}, undoCodes: {} }
  return { stage, memberId, has }
}

const expireOldest = async ({ stage, memberId }: Run) => {
  const { database, directory } = stage.home
  const oldest = database.prepare(`
    update emailUndos set expiresAt = ?2 where undoId = (
      select min(undoId) from emailUndos where memberId = ?1 and expiresAt > ?2
    ) returning expiresAt`)
  await oldest.bind(memberId, Date.now() - 1).run()
  const reservation = directory.prepare(`
    update addresses set settleAt = ?2 where memberId = ?1 and state = 'RESERVED'
      and settleAt = (select min(settleAt) from addresses where memberId = ?1 and state = 'RESERVED' and settleAt > ?2)`)
  await reservation.bind(memberId, Date.now() - 1).run()
}

let passwordsMade = 0

/** Sends the requests of an action. Returns whether they succeeded. */
const perform = async (run: Run, action: Action, { inUse }: State): Promise<boolean> => {
  const { stage, has } = run
  const { by } = action
  // The limits of attempts have tests of their own.
  await stage.home.directory.prepare('delete from attempts').run()
  if (stage.home.slot > 0) await stage.home.database.prepare('delete from attempts').run()
  const token = 'session' in action ? (has.tokens[action.session] ?? 'none') : undefined
  const send = async (method: string, path: string, body?: object) => {
    const {
      status,
      headers,
      body: answer,
    } = await stage.request({ method, path, ...(token && { token }), ...(body && { body }) })
    return { isDone: status < 300, code: headers.get('X-Code') ?? '', headers, answer }
  }
  const password = `takeover-horse-${++passwordsMade}`
  switch (action.kind) {
    case 'change': {
      const email = has.emails[action.to]
      const requested = await send('POST', '/email/change', { email, password: has.passwords[by] })
      if (!requested.isDone) return false
      const { isDone, code } = await send('PATCH', '/members/me/email', { email, authenticationCode: requested.code })
      if (isDone && UNDO_CODE.test(code)) has.undoCodes[inUse] = code
      else if (isDone) has.resetCodes[by] = { email, code }
      return isDone
    }
    case 'undo':
      return (await send('POST', '/email/change/undo', { authenticationCode: has.undoCodes[action.to] ?? 'none' }))
        .isDone
    case 'change password': {
      const { isDone } = await send('PATCH', '/members/me', { password })
      if (isDone) has.passwords[by] = password
      return isDone
    }
    case 'end sessions':
      return (await send('DELETE', '/sessions')).isDone
    case 'make token': {
      const { isDone, answer } = await send('POST', '/tokens', { name: by, scopes: ['profile:read'] })
      if (isDone) has.accessTokens[by] = (answer as { token: string }).token
      return isDone
    }
    case 'withdraw':
      return (await send('DELETE', '/members/me')).isDone
    case 'log in': {
      const { isDone, headers } = await send('POST', '/login', {
        email: has.emails[inUse],
        password: has.passwords[by],
      })
      if (isDone) has.tokens[by] = headers.get('Authorization')?.replace('Bearer ', '')
      return isDone
    }
    case 'request reset': {
      const email = has.emails[inUse]
      const { isDone, code } = await send('POST', '/email/password-reset', { email })
      has.resetCodes[ownerOf(inUse)] = { email, code }
      return isDone && code !== ''
    }
    case 'reset': {
      const { email, code } = has.resetCodes[by] ?? { email: has.emails[inUse], code: 'none' }
      const { isDone } = await send('POST', '/password-reset', { email, authenticationCode: code, password })
      if (isDone) has.passwords[by] = password
      return isDone
    }
    case 'expiry':
      await expireOldest(run)
      return true
  }
}

const keysOf = <Key extends string>(record: Partial<Record<Key, unknown>>) => Object.keys(record) as Key[]

/** The part of a state that can be observed, as a text. */
const describeState = ({ inUse, undos, sessions, tokens, knowing, end }: State) =>
  JSON.stringify(
    end?.startsWith('withdrawn')
      ? { undos: [], sessions: [], tokens: [] }
      : { inUse, undos, sessions: [...sessions].sort(), tokens: [...tokens].sort(), isVoid: knowing.length === 0 },
  )

/** The same, read from the service. */
const observe = async ({ stage, memberId, has }: Run) => {
  const { database } = stage.home
  const toAddress = (email: string) => keysOf(has.emails).find((address) => has.emails[address] === email)
  const isValid = async (token?: string) =>
    (await stage.request({ method: 'GET', path: '/members/me', ...(token && { token }) })).status === 200
  const validOf = async <Key extends string>(tokens: Partial<Record<Key, string>>) => {
    const valid: Key[] = []
    for (const key of keysOf(tokens)) if (await isValid(tokens[key])) valid.push(key)
    return valid.sort()
  }
  const selectMember = database.prepare(
    'select email, passwordHash from members where memberId = ? and withdrawnAt is null',
  )
  const member = await selectMember.bind(memberId).first<{ email: string; passwordHash: string }>()
  const selectUndos = database.prepare(
    'select email from emailUndos where memberId = ? and expiresAt > ? order by undoId',
  )
  const undos = await selectUndos.bind(memberId, Date.now()).all<{ email: string }>()
  return JSON.stringify({
    ...(member && { inUse: toAddress(member.email) }),
    undos: undos.results.map(({ email }) => toAddress(email)),
    sessions: await validOf(has.tokens),
    tokens: await validOf(has.accessTokens),
    ...(member && { isVoid: member.passwordHash === '' }),
  })
}

const describe = ({ by, kind, ...more }: Action) => [by, kind, ...Object.values(more)].join(' ')

/** Runs a chain. Returns the first step after which the service differs from the model, or undefined. */
export const runChain = async (stage: Stage, chain: Chain): Promise<string | undefined> => {
  const run = await start(stage)
  let state = initialState(1)
  for (const [step, action] of chain.entries()) {
    const isAllowed = canAct(state, action)
    const isDone = await perform(run, action, state)
    if (isAllowed) state = apply(state, action)
    const [found, expected] = [await observe(run), describeState(state)]
    if (isDone === isAllowed && found === expected) continue
    const path = chain
      .slice(0, step + 1)
      .map(describe)
      .join('; ')
    return `${path}: ${isDone ? 'done' : 'refused'}, ${found}; the model: ${isAllowed ? 'done' : 'refused'}, ${expected}`
  }
  return undefined
}
