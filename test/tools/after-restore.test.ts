// @module-tag slow
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lastSignUp } from '../../scripts/data/objects.ts'
import { localPath } from '../../scripts/data/stores.ts'
import { localTime } from '../../src/values/time'
import { createDatabase, createFolder } from './databases.ts'

import { BINDINGS, KEEPER, LEAVER, NEWCOMER, NOW, open } from './opened.ts'

const readRows = (data: string, binding: string) => {
  using database = new DatabaseSync(localPath(data, binding), { readOnly: true })
  const tables = ['members', 'sessions', 'books', 'memos', 'readings', 'images', 'purgeJobs', 'retiredIds']
  return tables.map((table) => database.prepare(`select * from ${table} order by 1, 2`).all())
}

/** Three slots, as they were before and after further activity. */
const createCopies = async (folder: string) => {
  const [data, older, newer] = ['data', 'older', 'newer'].map((name) => join(folder, name)) as [string, string, string]
  for (const binding of BINDINGS) createDatabase(data, binding).close()
  writeFileSync(join(data, 'slots.json'), '[{"slot":1},{"slot":2}]')
  const copy = (to: string) => cpSync(data, to, { recursive: true })
  const before = await open(data)
  for (const slot of [0, 1, 2]) {
    for (const member of [KEEPER, LEAVER]) {
      await before.signUp(slot, member)
      await before.write(slot, member)
    }
    await before.upload(slot, KEEPER, 'a')
    await before.query(slot, 'update members set maxImageBytes = 9')
  }
  await before.dispose()
  copy(older)

  const after = await open(data)
  const ids: number[][] = []
  for (const slot of [0, 1, 2]) {
    ids.push(await after.write(slot, KEEPER))
    await after.upload(slot, KEEPER, 'b')
    await after.query(slot, `delete from images where name like 'a%'`)
    await after.bucket.delete(after.keyOf(slot, KEEPER, 'a'))
    await after.withdraw(slot, LEAVER)
    await after.sweep(slot)
    await after.signUp(slot, NEWCOMER)
    await after.upload(slot, NEWCOMER, 'c')
  }
  await after.dispose()
  copy(newer)
  /** Takes slots back to how they were, but not the bucket. */
  const goBack = (name: string, bindings: string[]) => {
    const restored = join(folder, name)
    cpSync(newer, restored, { recursive: true })
    for (const binding of bindings) {
      for (const suffix of ['', '-wal', '-shm']) {
        const [from, to] = [localPath(older, binding) + suffix, localPath(restored, binding) + suffix]
        rmSync(to, { force: true })
        if (existsSync(from)) cpSync(from, to)
      }
    }
    return { restored }
  }
  return { ids, goBack }
}

const folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
let copies: Awaited<ReturnType<typeof createCopies>>
beforeAll(async () => {
  copies = await createCopies(folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

const repaired = (binding: string) => `${binding}: withdrawals repeated: 1`

it('a slot that went back in time loses no withdrawal and assigns no identifier again', async () => {
  const { ids, goBack } = copies
  const { restored } = goBack('slot-restored', ['DB_1'])
  const { verify, query, idOf, keyOf, bucket, write, sweep, dispose } = await open(restored)
  expect(await verify()).not.toEqual([])
  const others = () => ['DB', 'DB_2'].map((binding) => readRows(restored, binding))
  const before = others()

  expect(await verify({ repair: true, restored: 1 })).toEqual(
    expect.arrayContaining([
      repaired('DB_1'),
      'rows of images added: 1',
      'rows of missing images deleted: 1',
      'objects without a row deleted: 1',
    ]),
  )
  expect(await verify()).toEqual([])
  expect(others()).toEqual(before)
  const leaver = idOf(1, LEAVER)
  expect(await query(1, 'select * from members where memberId = ?', leaver)).toMatchObject([
    { email: `withdrawn-${leaver}`, name: '', passwordHash: '', maxImageBytes: null },
  ])
  expect(await query(1, 'select * from sessions where memberId = ?', leaver)).toEqual([])
  await sweep(1)
  expect(await query(1, 'select memberId from members')).toEqual([{ memberId: idOf(1, KEEPER) }])
  const { objects } = await bucket.list({ prefix: `images/${String(idOf(1, 0)).slice(0, 6)}` })
  expect(objects.map(({ key }) => key)).toEqual([keyOf(1, KEEPER, 'b')])
  for (const [at, id] of (await write(1, KEEPER)).entries()) expect(id).toBeGreaterThan(ids[1]?.[at] ?? Number.NaN)
  await dispose()
})

it('slots that all went back in time assign no member identifier again', async () => {
  const { ids, goBack } = copies
  const { restored } = goBack('all-restored', BINDINGS)
  const { verify, query, idOf, write, dispose } = await open(restored)
  expect(await verify({ repair: true, restored: 'all' })).toEqual(expect.arrayContaining(BINDINGS.map(repaired)))
  expect(await verify()).toEqual([])
  for (const slot of [0, 1, 2])
    for (const [at, id] of (await write(slot, KEEPER)).entries())
      expect(id).toBeGreaterThan(ids[slot]?.[at] ?? Number.NaN)
  const [member] = await query(
    0,
    `insert into members (email, name, passwordHash, createdAt, updatedAt) values ('n', '', '', '${NOW}', '${NOW}') returning memberId`,
  )
  expect(member?.memberId).toBeGreaterThan(NEWCOMER)
  for (const { slot, lastClaimId } of await query(0, 'select * from slotCounters'))
    expect(lastClaimId).toBeGreaterThan(idOf(Number(slot), NEWCOMER))
  await dispose()
})

it.each(['America/Los_Angeles', 'Asia/Seoul'])(
  'a sign-up after a restore gets no images of a lost member and is not withdrawn (%s)',
  async (timeZone) => {
    const data = join(createFolder(), 'data')
    for (const binding of ['DB', 'DB_1']) createDatabase(data, binding).close()
    writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
    const LOST = NEWCOMER + 1
    const { signUp, mark, put, keyOf, verify, rebuild, dispose } = await open(data)
    const at = (seconds: number) => localTime(timeZone, Date.now() + seconds * 1000)
    for (const member of [LEAVER, NEWCOMER]) await mark(1, member, Date.now() - 60_000)
    await put(1, KEEPER, 'a')
    await put(1, LOST, 'b')
    for (const member of [KEEPER, LEAVER]) await signUp(1, member, at(-120))
    await signUp(1, NEWCOMER, at(0))
    await signUp(1, LOST, at(60))

    const orphan = `${keyOf(1, LOST, 'b')}: object without a row`
    expect(await verify({ repair: true, timeZone })).toEqual(['rows of images added: 1', orphan])
    expect(await verify({ repair: true, restored: 1, timeZone })).toEqual(
      expect.arrayContaining([repaired('DB_1'), 'objects without a row deleted: 1']),
    )
    await rebuild(1)
    expect(await verify({ timeZone })).toEqual([])
    await dispose()
    const [members, , , , , images] = readRows(data, 'DB_1')
    expect(members?.map(({ withdrawnAt }) => withdrawnAt !== null)).toEqual([false, true, false, false])
    expect(images).toMatchObject([{ name: `${'a'.repeat(22)}.png` }])
  },
)

it.each([
  ['2026-11-01T05:10:00Z', '2026-11-01T01:10:00'],
  ['2026-11-01T06:10:00Z', '2026-11-01T01:59:59'],
  ['2026-11-01T07:10:00Z', '2026-11-01T02:10:00'],
])('members who existed at %s signed up by %s in New York, where clocks are set back', (at, last) => {
  expect(lastSignUp('America/New_York', Date.parse(at))).toBe(last)
})
