import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { OCCUPIED } from '../../../scripts/deploy/databases.ts'
import { plan } from '../../../scripts/deploy/deploy.ts'
import type { WranglerResult } from '../../../scripts/deploy/host.ts'
import { newMembersSetting, parseSlots } from '../../../scripts/slots/table.ts'
import { checkOfKey } from '../../../src/auth/keyed-hash'
import {
  type Account,
  CONFIG,
  deployTo as deployAccount,
  deployedAccount,
  emptyAccount,
  failure,
  fakeWrangler,
  MAIL_FROM,
  READER,
  type Row,
  SETTINGS,
  UPLOAD_READER,
} from '../../support/deploy/fake-account'

const TABLE = [
  { slot: 0, location: 'enam' },
  { slot: 1, location: 'weur', newMembers: ['EU', 'AF'] },
  { slot: 2, jurisdiction: 'eu', name: 'library-eu', newMembers: ['EU'] },
  { slot: 3, location: 'apac' },
]
const parse = (table: unknown) => parseSlots(table, 'reading-library')
const deployTo = (account: Account, table: Row[], overrides = {}, config = CONFIG) =>
  deployAccount(account, overrides, config, table)

const AT_TERMINAL = { ask: async () => '', env: { MAIL_FROM } }

const createOpenSlots = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ slot: index + 1, newMembers: ['*'] }))

const UPLOAD = 'deploy --config wrangler.deploy.json'
const migrate = (binding: string) => `d1 migrations apply ${binding} --remote --config wrangler.deploy.json`

describe('the table of slots', () => {
  it('fills in bindings and names, and sorts by slot', () => {
    const slots = parse(TABLE.toReversed()).map(({ binding, name }) => `${binding} ${name}`)
    expect(slots).toEqual([
      'DB reading-library',
      'DB_1 reading-library-slot-1',
      'DB_2 library-eu',
      'DB_3 reading-library-slot-3',
    ])
  })

  it.each([
    ['no further slot', [{ slot: 0, newMembers: ['*'] }], undefined],
    ['only closed slots', [{ slot: 1 }], '*:0'],
    ['continents', TABLE, 'AF:1 EU:1,2 *:0'],
    [
      'a closed slot 0',
      [
        { slot: 1, newMembers: ['AS'] },
        { slot: 4, newMembers: ['*'] },
      ],
      'AS:1 *:4',
    ],
    [
      'an open slot 0',
      [
        { slot: 0, newMembers: ['*'] },
        { slot: 4, newMembers: ['*'] },
      ],
      '*:0,4',
    ],
  ])('derives NEW_MEMBERS with %s', (_, table, expected) => {
    expect(newMembersSetting(parse(table))).toBe(expected)
  })

  it.each([
    ['not a list', {}, /^table: .*array/],
    ['an unknown location', [{ slot: 1, location: 'mars' }], /^0\.location: /],
    ['an unknown continent', [{ slot: 1, newMembers: ['XX'] }], /^0\.newMembers\.0: /],
    ['a misspelt key', [{ slot: 1, continents: ['EU'] }], /"continents"/],
    ['location and jurisdiction', [{ slot: 1, location: 'weur', jurisdiction: 'eu' }], /a location or a jurisdiction/],
    ['a slot beyond the range of identifiers', [{ slot: 8192 }], /^0\.slot: /],
    ['a slot twice', [{ slot: 1 }, { slot: 1, name: 'b' }], /^1 is listed twice/],
    ['a database twice', [{ slot: 1, name: 'reading-library' }], /^reading-library is listed twice/],
    ['a name of slot 0', [{ slot: 0, name: 'a' }], /wrangler\.toml/],
  ])('rejects %s', (_, table, message) => {
    expect(() => parse(table)).toThrow(message)
  })
})

describe('deploy with slots', () => {
  it('creates each database where the table says, and migrates all before it uploads the Worker', async () => {
    const { changes, deployed, secrets, output } = await deployTo(emptyAccount(), TABLE, AT_TERMINAL)
    expect(changes.filter((command) => command.startsWith('d1 create'))).toEqual([
      'd1 create reading-library --location enam',
      'd1 create reading-library-slot-1 --location weur',
      'd1 create library-eu --jurisdiction eu',
      'd1 create reading-library-slot-3 --location apac',
    ])
    const uploaded = changes.findIndex((command) => command.startsWith(UPLOAD))
    expect(changes.slice(0, uploaded).filter((command) => command.startsWith('d1 migrations'))).toEqual(
      ['DB', 'DB_1', 'DB_2', 'DB_3'].map(migrate),
    )
    expect(deployed.d1_databases).toEqual([
      { binding: 'DB', database_name: 'reading-library', database_id: 'id-0' },
      { binding: 'DB_1', database_name: 'reading-library-slot-1', database_id: 'id-1' },
      { binding: 'DB_2', database_name: 'library-eu', database_id: 'id-2' },
      { binding: 'DB_3', database_name: 'reading-library-slot-3', database_id: 'id-3' },
    ])
    expect(deployed.vars).toEqual({ NEW_MEMBERS: 'AF:1 EU:1,2 *:0' })
    expect(secrets.ADDRESS_KEY).toMatch(/^[\w+/]{64}$/)
    expect(secrets.ADDRESS_KEY).not.toBe(secrets.JWT_SECRET)
    expect(output.join()).toContain(secrets.ADDRESS_KEY)
  })

  it.each([{}, { WORKERS_CI: '1' }])('generates no key without a terminal to print it: %o', async (variables) => {
    const { ADDRESS_KEY: _, ...others } = SETTINGS
    const { errors, changes } = await deployTo(deployedAccount(), TABLE, { env: { ...others, ...variables } })
    expect([errors, changes]).toEqual([[expect.stringMatching(/^ADDRESS_KEY is missing, .+openssl rand/)], []])
  })

  it('is idempotent, and keeps ADDRESS_KEY', async () => {
    const account = emptyAccount()
    await deployTo(account, TABLE)
    const { changes, secrets, output } = await deployTo(account, TABLE)
    expect(output).toContain('Databases: 4 found')
    expect(changes).toEqual([...['DB', 'DB_1', 'DB_2', 'DB_3'].map(migrate), UPLOAD_READER, UPLOAD])
    expect(secrets).toEqual({})
  })

  it('adds slots to a running deployment', async () => {
    const account = deployedAccount()
    const first = await deployTo(account, [{ slot: 1, newMembers: ['*'] }])
    expect(first.changes).toContain('d1 create reading-library-slot-1')
    expect(Object.keys(first.secrets)).toEqual(['ADDRESS_KEY'])
    const second = await deployTo(account, [{ slot: 1 }, { slot: 2, newMembers: ['*'] }])
    expect(second.changes).toEqual([
      'd1 create reading-library-slot-2',
      ...['DB', 'DB_1', 'DB_2'].map(migrate),
      UPLOAD_READER,
      UPLOAD,
    ])
    expect(second.deployed.vars).toEqual({ NEW_MEMBERS: '*:2' })
  })

  const RESTORED = { ...CONFIG, d1_databases: [{ binding: 'DB', database_name: 'restored' }] }

  it('writes down the names of slots, so that they keep their databases when that of slot 0 is replaced', async () => {
    const account = emptyAccount()
    const { files, output } = await deployTo(account, TABLE)
    expect(output).toContain('slots.json: names added to slots 1, 3: commit them')
    expect(files['slots.json']).toBe(`[
  { "slot": 0, "location": "enam" },
  { "slot": 1, "name": "reading-library-slot-1", "location": "weur", "newMembers": ["EU", "AF"] },
  { "slot": 2, "jurisdiction": "eu", "name": "library-eu", "newMembers": ["EU"] },
  { "slot": 3, "name": "reading-library-slot-3", "location": "apac" }
]
`)
    // The dump of slot 0 has its marks.
    const { 'reading-library': marks = new Map(), ...others } = account.marks ?? {}
    account.marks = { ...others, restored: marks }
    account.databases.push('restored')
    const again = await deployTo(account, JSON.parse(files['slots.json'] ?? ''), {}, RESTORED)
    expect([again.errors, again.files['slots.json']]).toEqual([undefined, undefined])
    expect(again.changes.filter((command) => command.startsWith('d1 create'))).toEqual([])
    const bound = again.deployed.d1_databases.map(({ database_name }: { database_name: string }) => database_name)
    expect(bound).toEqual(['restored', 'reading-library-slot-1', 'library-eu', 'reading-library-slot-3'])
  })

  it('changes nothing if the names of slots with members are lost', async () => {
    const account = emptyAccount()
    await deployTo(account, TABLE)
    const restored = { ...account, databases: [...account.databases, 'restored'], occupied: [1, 2] }
    const { errors, changes, files } = await deployTo(restored, TABLE, {}, RESTORED)
    expect(errors).toEqual([
      'slots.json: slot 1 has members, but there is no database restored-slot-1: set the name of its database (npx wrangler d1 list)',
    ])
    expect([changes, files['slots.json']]).toEqual([[], undefined])
  })

  it.each([40, 120])('deploys %i slots with at most six commands at a time', async (count) => {
    const table = createOpenSlots(count - 1)
    const account = emptyAccount()
    const succeed = fakeWrangler(account)
    let [running, most] = [0, 0]
    const commands: string[] = []
    const wrangler = async (args: string[]): Promise<WranglerResult> => {
      commands.push(args.slice(0, 2).join(' '))
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 1))
      running -= 1
      return succeed(args)
    }
    const { errors, files, deployed } = await deployTo(account, table, { wrangler })
    expect([errors, most]).toEqual([undefined, 6])
    expect(account.databases).toHaveLength(count)
    expect(new Set(account.migrated).size).toBe(count)
    // The look-ups do not grow with the slots.
    expect(commands.filter((command) => command === 'd1 list')).toHaveLength(2)
    expect(deployed.d1_databases).toHaveLength(count)
    const lines = files['wrangler.deploy.json']?.split('\n') ?? []
    expect(lines.filter((line) => /^ {4}\{"binding":"DB(_\d+)?",.*\},?$/.test(line))).toHaveLength(count)
    expect(plan(CONFIG, READER, parse(table)).filter((line) => line.startsWith('Database'))).toHaveLength(count)
  })

  it('uploads nothing if a slot cannot be migrated, and completes the deployment when run again', async () => {
    const account = emptyAccount()
    const succeed = fakeWrangler(account)
    const fails = { code: 1, stdout: '', records: [{ type: 'command-failed', message: 'D1 is overloaded' }] }
    const wrangler = async (args: string[]) => (args[3] === 'DB_2' ? fails : succeed(args))
    const { errors } = await deployTo(account, TABLE, { wrangler })
    expect(errors).toEqual(['wrangler d1 migrations apply DB_2: D1 is overloaded'])
    expect(account.secrets).toBeUndefined()
    const { changes } = await deployTo(account, TABLE)
    expect(changes.filter((command) => /create/.test(command))).toEqual([])
    expect(changes.at(-2)).toMatch(UPLOAD)
  })

  it.each([
    [
      'a database in another jurisdiction',
      { jurisdictions: {} },
      TABLE,
      {},
      /library-eu exists with jurisdiction none/,
    ],
    ['a lost line', { databases: ['reading-library-slot-7'] }, TABLE, {}, /there is no slot 7, but the database/],
    ['a lost line of a slot with members', { occupied: [8] }, [{ slot: 1 }], {}, /slot 8 has members, but no line/],
    ['NEW_MEMBERS in [vars]', {}, TABLE, { NEW_MEMBERS: '*:1' }, /NEW_MEMBERS follows from slots\.json/],
    ['NEW_MEMBERS as a secret', { secrets: ['NEW_MEMBERS'] }, TABLE, {}, /NEW_MEMBERS follows from slots\.json/],
    ['too many open slots', {}, createOpenSlots(1500), {}, /opens more slots than NEW_MEMBERS can list/],
    ['an emptied table', { secrets: ['ADDRESS_KEY', 'MAIL_FROM'] }, [], {}, /members of other slots could not log in/],
  ])('changes nothing with %s', async (_, changed, table, vars, message) => {
    const account = { ...deployedAccount(), databases: ['reading-library', 'library-eu'], ...changed }
    const { errors, changes } = await deployTo(account, table, {}, { ...CONFIG, vars })
    expect(errors).toEqual([expect.stringMatching(message)])
    expect(changes).toEqual([])
  })
})

describe('deploy with a lost slot or key', () => {
  const KEY = 'the key of the directory, of which there is a copy'
  const deployed = async () => {
    const account = emptyAccount()
    await deployTo(account, TABLE, { env: { ...SETTINGS, ADDRESS_KEY: KEY } })
    const check = { slot: 0, mark: await checkOfKey(KEY), isConfirmed: 1 }
    account.marks?.['reading-library']?.set(0, check)
    return account
  }
  const withoutKey = (account: Account) => {
    account.secrets = account.secrets?.filter((name) => name !== 'ADDRESS_KEY')
  }
  const renamed = TABLE.map((row) => (row.slot === 2 ? { ...row, name: 'library-ue' } : row))

  it('confirms the marks of all slots after the upload', async () => {
    const { marks = {} } = await deployed()
    const known = [...(marks['reading-library']?.values() ?? [])]
    expect(known.map(({ slot, isConfirmed }) => [slot, isConfirmed])).toEqual([1, 2, 3, 0].map((slot) => [slot, 1]))
    expect(marks['library-eu']?.get(2)?.mark).toBe(known[1]?.mark)
  })

  it.each<[string, Row[], (account: Account) => void, object, RegExp]>([
    ['a typo in a name', renamed, () => {}, {}, /^slot 2: DB_2 is not the database that DB knows/],
    ['a lost line', TABLE.filter(({ slot }) => slot !== 2), () => {}, {}, /^slot 2: slots.json has no line for it/],
    ['a lost table and key', [], withoutKey, {}, /^slot 1: slots.json has no line for it/],
    ['a lost key', TABLE, withoutKey, {}, /^ADDRESS_KEY is missing, but the directory of addresses has one/],
    ['another key', TABLE, withoutKey, { ADDRESS_KEY: `not ${KEY}` }, /^ADDRESS_KEY is not the key of the directory/],
  ])('uploads nothing with %s', async (_, table, lose, env, message) => {
    const account = await deployed()
    account.databases = account.databases.filter((name) => !name.includes('slot') || table.length > 0)
    lose(account)
    const { changes, errors } = await deployTo(account, table, { ...AT_TERMINAL, env })
    expect(errors?.[0]).toMatch(message)
    expect(changes.filter((command) => command.startsWith('deploy'))).toEqual([])
  })

  it('uploads nothing with a lost key of a directory from before there were marks', async () => {
    const account = await deployed()
    withoutKey(account)
    const { errors } = await deployTo({ ...account, marks: {}, hasEntries: true }, TABLE, AT_TERMINAL)
    expect(errors?.[0]).toMatch(/^ADDRESS_KEY is missing/)
  })

  it('accepts the key of the directory again', async () => {
    const account = await deployed()
    withoutKey(account)
    const { errors, secrets } = await deployTo(account, TABLE, { env: { ADDRESS_KEY: KEY } })
    expect([errors, secrets]).toEqual([undefined, { ADDRESS_KEY: KEY }])
  })

  it('confirms the marks when run again after a failed upload', async () => {
    const account = emptyAccount()
    const succeed = fakeWrangler(account)
    const wrangler = async (args: string[]) => (args[0] === 'deploy' ? failure('Too large') : succeed(args))
    expect((await deployTo(account, TABLE, { wrangler })).errors).toEqual(['wrangler deploy: Too large'])
    account.marks = Object.fromEntries(
      Object.entries(account.marks ?? {}).map(([binding, marks]) => [
        parse(TABLE).find((slot) => slot.binding === binding)?.name ?? binding,
        marks,
      ]),
    )
    const isConfirmed = () => [...(account.marks?.['reading-library']?.values() ?? [])].map((mark) => mark.isConfirmed)
    expect(isConfirmed()).toEqual([0, 0, 0])
    expect((await deployTo(account, TABLE)).errors).toBeUndefined()
    expect(isConfirmed()).toEqual([1, 1, 1])
  })
})

it('finds the slots that have members in the directory', async () => {
  const occupied = async () => (await env.DB.prepare(OCCUPIED).all()).results
  expect(await occupied()).toEqual([])
  const members = [1, 2, 3].map((member) => `(randomblob(16), ${2 ** 40 + member}, 1, 1, 'HELD', null)`)
  const others = [2 * 2 ** 40 - 1, 5 * 2 ** 40].map((id) => `(randomblob(16), ${id}, 1, 1, 'HELD', null)`)
  await env.DB.prepare(`insert into addresses values ${[...members, ...others]}`).run()
  expect(await occupied()).toEqual([{ number: 1 }, { number: 5 }])
})

it('a dry run shows the place of each slot and where new members go', () => {
  const steps = plan(CONFIG, READER, parse(TABLE))
  expect(steps).toContain('Database library-eu: find or create in eu')
  expect(steps).toContain('Migrations: apply new ones to the 3 other slots, six at a time')
  expect(steps).toContain('NEW_MEMBERS: set to AF:1 EU:1,2 *:0')
})
