import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Bindings } from '../../../src/env'
import { codeIn, mails, requestCode } from '../../support/accounts/mailed-codes'
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
import { newEmail, PASSWORD, send, tokenOf } from '../../support/api'
import { UNLIMITED } from '../../support/rate-limits'
import { DATABASES, findDirectoryProblems, migrateSlots, SLOTS } from '../../support/slots'

// No transaction spans two databases, and a call between them can fail, take effect without an answer, run late, or run
// twice. In every case, an address has at most one member, and does not stay blocked.

let email: string
beforeAll(migrateSlots)
beforeEach(async () => {
  email = newEmail()
  // Jobs are repeated for an hour, which would make each sweep slower than the last one.
  for (const database of Object.values(DATABASES)) await database.prepare('delete from purgeJobs').run()
  for (const level of ['error', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {})
})
afterEach(vi.restoreAllMocks)

const IN_SLOT_1 = {
  ...SLOTS,
  NEW_MEMBERS: '*:1',
  ...UNLIMITED,
}
type Changed = Partial<Bindings>

const join = (changed: Changed = {}, authenticationCode = '123456') => {
  const body = { email, name: 'Reader', password: PASSWORD, authenticationCode }
  return send('POST', '/join', { body, changed: { ...IN_SLOT_1, ...changed } })
}
const login = (changed: Changed = {}) =>
  send('POST', '/login', { body: { email, password: PASSWORD }, changed: { ...IN_SLOT_1, ...changed } })
const withdraw = (token: string, changed: Changed = {}) =>
  send('DELETE', '/members/me', {
    headers: { Authorization: `Bearer ${token}` },
    changed: { ...IN_SLOT_1, ...changed },
  })
const countMembers = async () => {
  const counts = Object.values(DATABASES).map((database) =>
    database.prepare('select count(*) as n from members where email = ?').bind(email).first<number>('n'),
  )
  return (await Promise.all(counts)).reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

/** Runs late calls before or after a sweep, sweeps once more, and checks that the address is used or can be used. */
const comeToRest = async (
  late: (() => Promise<unknown>)[],
  order: (typeof ORDERS)[number],
  joinAgain: () => ReturnType<typeof join> = join,
) => {
  const runLate = async () => {
    // A late call may fail because of what happened since.
    for (const call of late.splice(0)) await call().catch(() => {})
  }
  if (order === 'before') await runLate()
  await sweepLater()
  await runLate()
  await sweepLater()
  expect(await findDirectoryProblems()).toEqual([])
  const members = await countMembers()
  if (members === 0) expect((await joinAgain()).status).toBe(201)
  else expect((await joinAgain()).status).toBe(409)
  expect((await login()).status).toBe(200)
  expect(await findDirectoryProblems()).toEqual([])
  return members
}

describe.each(ORDERS)('if late calls run %s the sweep,', (order) => {
  describe('a sign-up into slot 1 leaves a member or a free address', () => {
    it('takes three calls', async () => {
      expect(await countCalls(join)).toBe(3)
    })

    it.each(pickFaults(listFaults(3, order)))('%s', async (_, fault) => {
      const { state, changed } = injectFault(fault)
      const { status } = await join(changed)
      expect([201, 503]).toContain(status)
      if (status === 201) expect((await login()).status).toBe(200)
      const members = await comeToRest(state.late, order)
      if (status === 201) expect(members).toBe(1)
    })

    it.each(pickFaults(listFaults(3, order, ERRORS.slice(1))))(
      'with a code, which works once: %s',
      async (_, fault) => {
        const verified = { EMAIL_VERIFICATION: 'required' }
        await requestCode(email, { ...SLOTS, from: '10.8.8.8' })
        const code = codeIn(mails.at(-1))
        const { state, changed } = injectFault(fault)
        const { status } = await join({ ...changed, ...verified }, code)
        expect([201, 503]).toContain(status)
        await comeToRest(state.late, order, () => join(verified, code))
      },
    )
  })

  describe('of fifty sign-ups at once, at most one succeeds', () => {
    const faults = KINDS.filter((kind) => order === 'before' || isLate(kind)).flatMap((kind) =>
      ['DB', 'DB_1'].flatMap((binding) =>
        (binding === 'DB' ? [1, 50, 51] : [1]).map(
          (call): Fault => ({ call, kind, binding, message: ERRORS[1] ?? '' }),
        ),
      ),
    )
    it.each(pickFaults(faults))('call $call of $binding $kind', async (fault) => {
      const { state, changed } = injectFault(fault)
      const answers = await Promise.all(Array.from({ length: 50 }, () => join(changed)))
      expect(answers.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1)
      expect(answers.filter(({ status }) => ![201, 409, 503].includes(status))).toEqual([])
      await comeToRest(state.late, order)
    })
  })

  describe('sign-ups that find an abandoned claim settle it', () => {
    const SETTLING_CALLS = 6
    const abandonClaim = async (kind: Fault['kind']) => {
      const { state, changed } = injectFault({ call: 1, binding: 'DB_1', kind, message: ERRORS[1] ?? '' })
      expect((await join(changed)).status).toBe(503)
      return state.late
    }

    it.each(['fails', 'is lost', 'runs late'] as const)('an insert that %s', async (kind) => {
      const late = await abandonClaim(kind)
      const answers = await Promise.all(Array.from({ length: 50 }, () => join()))
      const created = answers.filter(({ status }) => status === 201).length
      expect(created).toBeLessThanOrEqual(kind === 'is lost' ? 0 : 1)
      await comeToRest(late, order)
    })

    it('take six calls', async () => {
      await abandonClaim('fails')
      expect(await countCalls(join)).toBe(SETTLING_CALLS)
    })

    it.each(pickFaults(listFaults(SETTLING_CALLS, order)))('%s', async (_, fault) => {
      const late = await abandonClaim('runs late')
      const { state, changed } = injectFault(fault)
      const { status } = await join(changed)
      expect([201, 409, 503]).toContain(status)
      await comeToRest([...state.late, ...late], order)
    })
  })

  describe('a withdrawal leaves a member or a free address', () => {
    const signUp = async () => {
      expect((await join()).status).toBe(201)
      return tokenOf(await login())
    }
    const CALLS = 4

    it('takes four calls, two of them to delete rows after the answer', async () => {
      const token = await signUp()
      expect(await countCalls((changed) => withdraw(token, changed))).toBe(CALLS)
    })

    it.each(pickFaults(listFaults(CALLS, order)))('%s', async (_, fault) => {
      const token = await signUp()
      const { state, changed } = injectFault(fault)
      expect([204, 503]).toContain((await withdraw(token, changed)).status)
      await comeToRest(state.late, order)
    })

    it('which a late insert does not bring back', async () => {
      const { state, changed } = injectFault({ call: 2, kind: 'runs twice', message: '' })
      expect((await join(changed)).status).toBe(201)
      expect((await withdraw(tokenOf(await login()))).status).toBe(204)
      expect(await countMembers()).toBe(0)
      await comeToRest(state.late, order)
    })
  })
})

describe('the sweep', () => {
  /** Three things that it has to do: a member whose claim is open, a claim without a member, entries of a withdrawn member. */
  const prepare = async () => {
    for (const kind of ['is lost', 'fails'] as const) {
      const { changed } = injectFault({ call: 1, binding: 'DB_1', kind, message: ERRORS[1] ?? '' })
      expect((await join(changed)).status).toBe(503)
      email = newEmail()
    }
    expect((await join()).status).toBe(201)
    const { changed } = injectFault({ call: 1, binding: 'DB', kind: 'fails', message: ERRORS[1] ?? '' })
    expect((await withdraw(tokenOf(await login()), changed)).status).toBe(204)
  }

  const CALLS = 29

  it(`settles claims and releases addresses, in ${CALLS} calls`, async () => {
    await prepare()
    expect(await findDirectoryProblems()).toHaveLength(4)
    expect(await countCalls(sweepLater)).toBe(CALLS)
    expect(await findDirectoryProblems()).toEqual([])
  })

  it.each(pickFaults(listFaults(CALLS, 'before', ERRORS.slice(1))))(
    'is completed by the next one: %s',
    async (_, fault) => {
      await prepare()
      const { state, changed } = injectFault(fault)
      await sweepLater(changed)
      for (const call of state.late) await call().catch(() => {})
      await sweepLater()
      expect(await findDirectoryProblems()).toEqual([])
    },
  )
})
