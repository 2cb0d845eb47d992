import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Bindings } from '../../../src/env'
import { confirmChange, insertEmailCode, lastCodeTo, mailsTo, undo } from '../../support/accounts/email-changes'
import { EMAIL, mails } from '../../support/accounts/mailed-codes'
import {
  countCalls,
  ERRORS,
  type Fault,
  injectFault,
  isLate,
  KINDS,
  listFaults,
  ORDERS,
  pickFaults,
  sweepLater,
} from '../../support/accounts/slot-faults'
import { newEmail, PASSWORD, send } from '../../support/api'
import { insertMemberAt } from '../../support/home'
import { UNLIMITED } from '../../support/rate-limits'
import { ADDRESS_KEY, DATABASES, findDirectoryProblems, migrateSlots, SLOTS } from '../../support/slots'

// A change of e-mail and its undo span two databases, and a call between them can fail, take effect without a response, run
// late, or run twice. In every case, an address has at most one member, none stays blocked, and an undo stays possible.

type Changed = Partial<Bindings>
type Order = (typeof ORDERS)[number]

const BOUND = {
  ...SLOTS,
  NEW_MEMBERS: '*:1',
  ...UNLIMITED,
  EMAIL,
}
const CODE = 'AAAAA-AAAAA'
const HOME = [DATABASES.DB, DATABASES.DB_1]

let slot: number
let member: { email: string; memberId: number; token: string }
let email: string

const insertMember = () =>
  insertMemberAt(
    { slot, database: HOME[slot] ?? env.DB, directory: env.DB, addressKey: ADDRESS_KEY },
    env.JWT_SECRET ?? '',
    newEmail(),
  )
const emailOf = ({ memberId }: { memberId: number }) =>
  HOME[slot]?.prepare('select email from members where memberId = ?').bind(memberId).first<string>('email')
const versionOf = ({ memberId }: { memberId: number }) =>
  HOME[slot]
    ?.prepare('select credentialsVersion as n from members where memberId = ?')
    .bind(memberId)
    .first<number>('n')

/** Inserts what a request for the change stores: a code for the new address. */
const insertCode = async (of: typeof member, to: string) =>
  insertEmailCode(of.memberId, to, CODE, (await versionOf(of)) ?? 0)
const confirm = (changed: Changed = {}, of = member, to = email) =>
  confirmChange(of, to, CODE, { changed: { ...BOUND, ...changed } })
const change = async (to: string) => {
  await insertCode(member, to)
  const { status } = await confirm({}, member, to)
  expect(status).toBe(200)
}
const undoWith = (code: string, changed: Changed = {}) => undo(code, { changed: { ...BOUND, ...changed } })
const join = (to: string, changed: Changed = {}) => {
  const body = { email: to, name: 'Reader', password: PASSWORD, authenticationCode: '123456' }
  return send('POST', '/join', { body, changed: { ...BOUND, ...changed } })
}
const withdraw = (changed: Changed = {}) =>
  send('DELETE', '/members/me', {
    headers: { Authorization: `Bearer ${member.token}` },
    changed: { ...BOUND, ...changed },
  })
/** Whether someone else could sign up with an address. */
const isFree = async (address: string) => {
  await env.DB.prepare('delete from attempts').run()
  const headers = { 'CF-Connecting-IP': '10.9.7.1' }
  const { status } = await send('POST', '/email/join', {
    body: { joinAuthCodeEmail: address },
    headers,
    changed: BOUND,
  })
  return status === 201
}

beforeAll(migrateSlots)
beforeEach(async () => {
  mails.length = 0
  // Purge jobs are repeated for an hour, so each sweep would be slower than the one before.
  for (const database of Object.values(DATABASES)) await database.prepare('delete from purgeJobs').run()
  for (const level of ['error', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {})
})
afterEach(vi.restoreAllMocks)

/** Runs late calls before or after a sweep, and sweeps once more. */
const comeToRest = async (late: (() => Promise<unknown>)[], order: Order) => {
  const runLate = async () => {
    // A late call may fail because of what happened in between.
    for (const call of late.splice(0)) await call().catch(() => {})
  }
  if (order === 'before') await runLate()
  await sweepLater()
  await runLate()
  await sweepLater()
  expect(await findDirectoryProblems()).toEqual([])
}

/** The member can change the address again, and the first undo code restores the first address and frees all others. */
const checkWayBack = async (oldEmail: string, isChanged: boolean) => {
  const last = newEmail()
  await change(last)
  expect(await isFree(oldEmail)).toBe(false)
  expect(await isFree(email)).toBe(!isChanged)
  // If the response was lost, the mail may not have been sent.
  const code = lastCodeTo(oldEmail)
  if (!code) return
  expect((await undoWith(code)).status).toBe(204)
  expect(await emailOf(member)).toBe(oldEmail)
  expect([await isFree(last), await isFree(email), await isFree(oldEmail)]).toEqual([true, true, false])
  expect(await findDirectoryProblems()).toEqual([])
}

const FLOW_CALLS = {
  change: [1, 4],
  // Including those that issue the reset code.
  return: [4, 7],
  undo: [2, 4],
  settlingChange: [9],
  settlingUndo: [7],
}

describe.each([0, 1])('in slot %i,', (home) => {
  beforeEach(async () => {
    slot = home
    member = await insertMember()
    email = newEmail()
  })

  describe.each(ORDERS)('if late calls run %s the sweep,', (order) => {
    describe('a change takes effect or does not', () => {
      beforeEach(() => insertCode(member, email))
      const calls = FLOW_CALLS.change[home] ?? 0

      it(`takes ${calls} calls`, async () => {
        expect(await countCalls(confirm)).toBe(calls)
      })

      it.each(pickFaults(listFaults(calls, order)))('%s', async (_, fault) => {
        const { state, changed } = injectFault(fault)
        const { status } = await confirm(changed)
        expect([200, 503]).toContain(status)
        await comeToRest(state.late, order)
        const isChanged = (await emailOf(member)) === email
        if (status === 200) expect(isChanged).toBe(true)
        if (fault.kind === 'is lost' && isChanged) expect(mailsTo(member.email)).not.toEqual([])
        await checkWayBack(member.email, isChanged)
      })
    })

    describe('an undo takes effect or can be repeated', () => {
      let code: string
      beforeEach(async () => {
        await change(email)
        code = lastCodeTo(member.email)
      })
      const calls = FLOW_CALLS.undo[home] ?? 0

      it(`takes ${calls} calls`, async () => {
        expect(await countCalls((changed) => undoWith(code, changed))).toBe(calls)
      })

      it.each(pickFaults(listFaults(calls, order)))('%s', async (_, fault) => {
        const { state, changed } = injectFault(fault)
        const { status } = await undoWith(code, changed)
        expect([204, 503]).toContain(status)
        await comeToRest(state.late, order)
        const isRestored = (await emailOf(member)) === member.email
        if (status === 204) expect(isRestored).toBe(true)
        expect(await isFree(member.email)).toBe(false)
        expect(await isFree(email)).toBe(isRestored)
        expect((await undoWith(code)).status).toBe(isRestored ? 400 : 204)
        expect(await emailOf(member)).toBe(member.email)
        expect(await isFree(email)).toBe(true)
        expect(await findDirectoryProblems()).toEqual([])
      })
    })

    describe('a return to a former address undoes two changes or none', () => {
      let last: string
      beforeEach(async () => {
        last = newEmail()
        await change(email)
        await change(last)
        await insertCode(member, member.email)
      })
      const back = (changed: Changed = {}) => confirm(changed, member, member.email)
      const calls = FLOW_CALLS.return[home] ?? 0

      it(`takes ${calls} calls`, async () => {
        expect(await countCalls(back)).toBe(calls)
      })

      it.each(pickFaults(listFaults(calls, order)))('%s', async (_, fault) => {
        const undoCodes = [lastCodeTo(member.email), lastCodeTo(email)]
        const { state, changed } = injectFault(fault)
        const { status } = await back(changed)
        expect([200, 503]).toContain(status)
        await comeToRest(state.late, order)
        const isRestored = (await emailOf(member)) === member.email
        if (status === 200) expect(isRestored).toBe(true)
        expect([await isFree(last), await isFree(email), await isFree(member.email)]).toEqual([
          isRestored,
          isRestored,
          false,
        ])
        for (const code of undoCodes.reverse()) expect((await undoWith(code)).status).toBe(isRestored ? 400 : 204)
        expect(await emailOf(member)).toBe(member.email)
        expect(await findDirectoryProblems()).toEqual([])
      })
    })

    describe('an undo of two changes', () => {
      it.each(pickFaults(listFaults(FLOW_CALLS.undo[home] ?? 0, order, ERRORS.slice(1))))('%s', async (_, fault) => {
        const last = newEmail()
        await change(email)
        await change(last)
        const [older, newer] = [lastCodeTo(member.email), lastCodeTo(email)]
        const { state, changed } = injectFault(fault)
        expect([204, 503]).toContain((await undoWith(older, changed)).status)
        // The newer code may be used before the older one has come to rest.
        expect([204, 400, 503]).toContain((await undoWith(newer)).status)
        await comeToRest(state.late, order)
        expect([204, 400]).toContain((await undoWith(older)).status)
        expect(await emailOf(member)).toBe(member.email)
        expect([await isFree(last), await isFree(email), await isFree(member.email)]).toEqual([true, true, false])
        expect(await findDirectoryProblems()).toEqual([])
      })
    })

    const raceFaults = KINDS.filter((kind) => order === 'before' || isLate(kind)).flatMap((kind) =>
      (home === 0 ? ['DB'] : ['DB', 'DB_1']).flatMap((binding) =>
        [1, 2].map((call): Fault => ({ call, kind, binding, message: ERRORS[1] ?? '' })),
      ),
    )
    it.each(pickFaults(raceFaults))(
      'a change and sign-ups want one address: call $call of $binding $kind',
      async (fault) => {
        const other = await insertMember()
        for (const each of [member, other]) await insertCode(each, email)
        const { state, changed } = injectFault(fault)
        const answers = await Promise.all([confirm(changed), join(email, changed), confirm(changed, other)])
        expect(answers.filter(({ status }) => status < 300).length).toBeLessThanOrEqual(1)
        expect(answers.filter(({ status }) => ![200, 201, 409, 503].includes(status))).toEqual([])
        await comeToRest(state.late, order)
        if (await isFree(email)) expect((await join(email)).status).toBe(201)
        expect(await findDirectoryProblems()).toEqual([])
      },
    )

    it.each(pickFaults(raceFaults))(
      'a change and a withdrawal at once: call $call of $binding $kind',
      async (fault) => {
        await insertCode(member, email)
        const { state, changed } = injectFault(fault)
        const [{ status }, withdrawn] = await Promise.all([confirm(changed), withdraw(changed)])
        expect([200, 401, 503]).toContain(status)
        expect([204, 503]).toContain(withdrawn.status)
        await comeToRest(state.late, order)
        const isWithdrawn = !(await emailOf(member))?.includes('@')
        if (withdrawn.status === 204) expect(isWithdrawn).toBe(true)
        expect([await isFree(member.email), await isFree(email)].includes(false)).toBe(!isWithdrawn)
      },
    )

    it.each(pickFaults(raceFaults))(
      'an undo and a sign-up with the former address: call $call of $binding $kind',
      async (fault) => {
        await change(email)
        const code = lastCodeTo(member.email)
        const { state, changed } = injectFault(fault)
        const [{ status }, signUp] = await Promise.all([undoWith(code, changed), join(member.email, changed)])
        expect([204, 503]).toContain(status)
        expect([409, 503]).toContain(signUp.status)
        await comeToRest(state.late, order)
        expect(await isFree(member.email)).toBe(false)
      },
    )
  })
})

describe.each(ORDERS)('in slot 1, if late calls run %s the sweep,', (order) => {
  beforeEach(async () => {
    slot = 1
    member = await insertMember()
    email = newEmail()
  })
  /** A claim that a flow of the member left open. */
  const leaveOpen = async (kind: Fault['kind'] = 'runs late') => {
    const wanted = newEmail()
    await insertCode(member, wanted)
    const { state, changed } = injectFault({ call: 2, binding: 'DB_1', kind, message: ERRORS[1] ?? '' })
    expect((await confirm(changed, member, wanted)).status).toBe(503)
    return state.late
  }

  describe('a change settles the open claim of an earlier one', () => {
    const [calls = 0] = FLOW_CALLS.settlingChange

    it(`takes ${calls} calls`, async () => {
      await leaveOpen('fails')
      await insertCode(member, email)
      expect(await countCalls(confirm)).toBe(calls)
    })

    it.each(pickFaults(listFaults(calls, order, ERRORS.slice(1))))('%s', async (_, fault) => {
      const late = await leaveOpen()
      await insertCode(member, email)
      const { state, changed } = injectFault(fault)
      const { status } = await confirm(changed)
      expect([200, 503]).toContain(status)
      await comeToRest([...state.late, ...late], order)
      if (status === 200) expect(await emailOf(member)).toBe(email)
    })
  })

  describe('an undo settles the open claim of a later change', () => {
    const [calls = 0] = FLOW_CALLS.settlingUndo
    let code: string
    const prepare = async (kind?: Fault['kind']) => {
      await change(email)
      code = lastCodeTo(member.email)
      return leaveOpen(kind)
    }

    it(`takes ${calls} calls`, async () => {
      await prepare('fails')
      expect(await countCalls((changed) => undoWith(code, changed))).toBe(calls)
    })

    it.each(pickFaults(listFaults(calls, order, ERRORS.slice(1))))('%s', async (_, fault) => {
      const late = await prepare()
      const { state, changed } = injectFault(fault)
      const { status } = await undoWith(code, changed)
      expect([204, 503]).toContain(status)
      await comeToRest([...state.late, ...late], order)
      expect([204, 400]).toContain((await undoWith(code)).status)
      expect(await emailOf(member)).toBe(member.email)
      expect(await findDirectoryProblems()).toEqual([])
    })
  })
})
