// @module-tag slow
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { accountPrefix, memberAccount } from '../../src/auth/keyed-hash.ts'
import { parseMark } from '../../src/values/marks.ts'
import { JWT_SECRET } from './databases.ts'
import { count, createSlots, HOUR_MS, JUN, MINA, readAll, SLOT_1 } from './member-slots.ts'

it('finds members in every slot by address, regardless of case, and by identifier', async () => {
  const { main, run, runScript } = await createSlots()
  expect(await runScript('find', 'mina@EXAMPLE.com')).toBe(`${MINA} Mina@example.com slot 0`)
  expect(await run('find', String(JUN))).toBe(`${JUN} jun@example.com slot 1`)
  expect(await runScript('find', '-1')).toMatch(/^2 Usage/)
  await expect(run('find', "' or 1=1 --@")).rejects.toThrow(/^No member/)
  await expect(run('find', String(SLOT_1 * 2 + 1))).rejects.toThrow(/^No member/)
  main.exec(`update members set email = 'JUN@example.com'`)
  expect((await run('find', 'jun@example.com')).split('\n')).toHaveLength(2)
  await expect(run('delete', 'jun@example.com')).rejects.toThrow(/^Several members/)
})

it('shows a member without hashes of password, tokens and codes, and what is stored', async () => {
  const { main, run } = await createSlots()
  const prefix = await accountPrefix(JWT_SECRET, 'mina@example.com')
  const insert = main.prepare('insert into attempts (subject, at) values (?, ?)')
  for (const network of ['one', 'one', 'two']) insert.run(`${prefix}login ${network}`, Date.now())
  insert.run(`${prefix}login one`, Date.now() - HOUR_MS)
  const ofMember = await accountPrefix(JWT_SECRET, memberAccount(MINA))
  for (const subject of ['export ', 'webdav one', 'webdav two', 'webdav two'])
    insert.run(`${ofMember}${subject}`, Date.now())
  const shown = await run('show', 'mina@example.com')
  expect(JSON.parse(shown)).toMatchObject({
    slot: 0,
    memberId: MINA,
    email: 'Mina@example.com',
    sessions: [{ device: null }, {}],
    accessTokens: [{ name: 'Script', hint: 'rl_0000abc' }],
    formerAddresses: [{ email: 'former@example.com', expiresAt: expect.stringMatching(/Z$/) }],
    trash: { entries: 0, bytes: 0 },
    limits: {
      MAX_BOOKS: '2 of 20,000',
      MAX_MEMOS_PER_BOOK: '2 of 3,000',
      import: '0 of 20 in 24 h',
      'failed-login': '2 of 10 in 15 minutes',
      'failed-login-site': '0 of 30 in 15 minutes',
      'mail-hour (reset-mail)': '0 of 5 in 1 h',
      'mail-day-site (reset-mail)': '0 of 16 in 24 h',
      export: '1 of 20 in 24 h',
      'webdav-file': '2 of 200 in 24 h',
    },
    yetBooks: 2,
  })
  expect(shown).not.toMatch(/hash(?!ing)/i)
  expect(await run('usage', String(MINA))).toMatch(/MAX_BOOKS +2 +20,000/)
})

it('escapes control characters and those that change the direction of text', async () => {
  const { main, runScript } = await createSlots()
  const name = 'Mi\u009b2Jna\u202Eanim\u{E0041}\n미나'
  main.prepare('update members set name = ?, email = ?').run(name, 'mina\u202e@example.com')
  const shown = await runScript('show', String(MINA))
  expect(shown).toContain(String.raw`"Mi\u009b2Jna\u202eanim\udb40\udc41\n미나"`)
  expect(JSON.parse(shown)).toMatchObject({ name })
  expect(await runScript('find', '\u001b[31m@')).toContain(String.raw`the address \u001b[31m@`)
  expect(await runScript('find', String(MINA))).toBe(String.raw`${MINA} mina\u202e@example.com slot 0`)
})

it('git ignores exports of members, and incomplete ones', () => {
  const names = ['reading-library-1.json', 'reading-library-1-part-2.json', '.reading-library-1.json-99-1.incomplete']
  const { stdout } = spawnSync('git', ['check-ignore', '--no-index', ...names], { encoding: 'utf8' })
  expect(stdout.trim().split('\n')).toEqual(names)
})

it('ends all sessions, access tokens and links; a dry run ends none', async () => {
  const { main, slot1, run } = await createSlots()
  expect(await run('end-sessions', 'jun@example.com', '--dry-run')).toBe(
    `end-sessions ${JUN}: 2 sessions, 1 access tokens and links (dry run)`,
  )
  expect([count(slot1, 'sessions'), count(slot1, 'accessTokens'), count(main, 'operatorLog')]).toEqual([2, 1, 0])
  await run('end-sessions', 'jun@example.com')
  expect([count(slot1, 'sessions'), count(slot1, 'accessTokens'), count(main, 'sessions')]).toEqual([0, 0, 2])
  expect(await run('log')).toMatch(new RegExp(`Z end-sessions ${JUN}$`))
})

it('sets quotas of a member, and shows them beside the usage', async () => {
  const { main, slot1, run } = await createSlots()
  await expect(run('quota', 'jun@example.com', 'MAX_BOOKS=5;')).rejects.toThrow(/^MAX_BOOKS=5;: must be/)
  expect(await run('quota', 'jun@example.com', 'MAX_BOOKS=5', '--dry-run')).toBe(`quota ${JUN}: MAX_BOOKS=5 (dry run)`)
  expect([readAll(slot1, 'members'), count(main, 'operatorLog')]).toMatchObject([[{ maxBooks: null }], 0])
  await run('quota', 'jun@example.com', 'MAX_BOOKS=5', 'MAX_MEMBER_IMAGE_BYTES=0')
  expect(readAll(slot1, 'members')).toMatchObject([{ maxBooks: 5, maxTextBytes: null, maxImageBytes: 0 }])
  expect(await run('usage', 'jun@example.com')).toMatch(/MAX_BOOKS +1 +5 +own/)
  await run('quota', 'jun@example.com', 'MAX_BOOKS=null')
  expect(readAll(slot1, 'members')).toMatchObject([{ maxBooks: null, maxImageBytes: 0 }])
  expect(await run('log')).toMatch(/quota MAX_BOOKS=5 MAX_MEMBER_IMAGE_BYTES=0 /)
})

it('forgets the attempts on an account, and no others', async () => {
  const { main, slot1, run } = await createSlots()
  const insert = main.prepare('insert into attempts (subject, at) values (?, 1)')
  const prefix = await accountPrefix(JWT_SECRET, 'mina@example.com')
  const other = await accountPrefix(JWT_SECRET, 'jun@example.com')
  for (const subject of [`${prefix}A`, `${prefix}/`, `${other}A`, 'without a prefix']) insert.run(subject)
  expect(await run('unlock', 'mina@example.com', '--dry-run')).toBe(`unlock ${MINA}: 2 attempts (dry run)`)
  expect(count(main, 'attempts')).toBe(4)
  await run('unlock', 'mina@example.com')
  expect(readAll(main, 'attempts')).toMatchObject([{ subject: `${other}A` }, { subject: 'without a prefix' }])
  slot1
    .prepare('insert into attempts (subject, at) values (?, 1)')
    .run(`${await accountPrefix(JWT_SECRET, memberAccount(JUN))}export `)
  expect(await run('unlock', 'jun@example.com')).toBe(`unlock ${JUN}: 2 attempts`)
  expect([count(main, 'attempts'), count(slot1, 'attempts')]).toEqual([1, 0])
})

it('exports the library of a member, names images, and counts towards no limit of the member', async () => {
  const { data, main, slot1, run, runScript } = await createSlots()
  slot1.exec(`insert into images (imageId, memberId, name, type, bytes, createdAt)
    values (${JUN}, ${JUN}, 'a.png', 'image/png', 5, '2026-01-01T00:00:00')`)
  const out = join(data, 'jun.json')
  expect(await run('export', 'jun@example.com', '--out', out, '--dry-run')).toMatch(
    /: 1 books, 1 memos, 1 images \(dry run\)$/,
  )
  expect([existsSync(out), count(main, 'operatorLog')]).toEqual([false, 0])
  expect(await runScript('export', 'jun@example.com', '--out', out)).toMatch(out)
  expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({
    format: 'reading-library',
    part: 1,
    last: true,
    member: { email: 'jun@example.com', name: 'Mina' },
    images: [{ name: 'a.png', url: `http://localhost:8787/images/${JUN}/a.png` }],
    books: [{ title: 'A memo', memos: [{ memoContent: 'A memo' }] }],
  })
  expect(statSync(out).mode & 0o777).toBe(0o600)
  await expect(run('export', 'jun@example.com', '--out', out)).rejects.toThrow(/^.*exists: pass --force/)
  expect(await run('log')).toMatch(new RegExp(`Z export ${JUN}`))
})

it('withdraws a member of any slot, and the log outlives the member', async () => {
  const { main, slot1, bucket, run } = await createSlots()
  const untouched = await run('delete', 'jun@example.com', '--dry-run')
  expect(untouched).toBe(`delete ${JUN}: 1 books, 1 memos, 0 images, 2 sessions, 1 access tokens and links (dry run)`)
  expect([count(slot1, 'purgeJobs'), count(main, 'addresses')]).toEqual([0, 1])
  expect(await run('block', 'jun@example.com', '--dry-run')).toMatch(
    /2 sessions, 1 access tokens and links set aside \(dry run\)$/,
  )
  expect(readAll(slot1, 'members')).toMatchObject([{ blockedAt: null }])
  await run('block', 'jun@example.com')
  expect(readAll(slot1, 'sessions')).toMatchObject([{ sessionId: 'blocked one' }, { sessionId: 'blocked two' }])
  expect(await run('block', 'jun@example.com', '--dry-run')).toMatch(
    /: 0 sessions, 0 access tokens and links set aside/,
  )
  expect(await run('unblock', 'jun@example.com', '--dry-run')).toMatch(
    /: 2 sessions, 1 access tokens and links brought back/,
  )
  expect(await run('unblock', String(MINA), '--dry-run')).toMatch(
    /: 0 sessions, 0 access tokens and links brought back/,
  )
  slot1.exec('update members set maxBooks = 1, maxTextBytes = 1, maxImageBytes = 1')
  await run('delete', 'jun@example.com')
  await run('delete', String(MINA))
  const { objects } = await bucket.list()
  const marks = objects.flatMap(({ key }) => parseMark(key) ?? [])
  const withdrawn = marks.filter(({ kind }) => kind === 'withdrawn')
  expect(withdrawn.map(({ memberId }) => memberId)).toEqual([JUN, MINA])
  const actions = marks.filter(({ kind }) => kind === 'operator')
  expect(actions.map(({ action }) => action)).toEqual(['block', 'delete', 'delete'])
  for (const [database, memberId] of [
    [main, MINA],
    [slot1, JUN],
  ] as const) {
    const erased = { email: `withdrawn-${memberId}`, name: '', passwordHash: '', withdrawnAt: expect.any(Number) }
    const cleared = { blockedAt: null, maxBooks: null, maxTextBytes: null, maxImageBytes: null }
    expect(readAll(database, 'members')).toMatchObject([{ ...erased, ...cleared }])
    expect(readAll(database, 'purgeJobs')).toMatchObject([{ memberId }])
    for (const table of ['sessions', 'accessTokens', 'emailUndos', 'activity']) expect(count(database, table)).toBe(0)
  }
  expect([readAll(slot1, 'settledClaims'), count(main, 'addresses')]).toMatchObject([[{ claimId: JUN }], 0])
  await expect(run('show', String(JUN))).rejects.toThrow(/^No member/)
  slot1.exec(`delete from members`)
  expect((await run('log')).split('\n')).toHaveLength(3)
  expect(await run('log', String(JUN))).toMatch(new RegExp(`Z block ${JUN}\\n.*Z delete ${JUN}$`))
})

it('lists and deletes the links of a member', async () => {
  const { main, run } = await createSlots()
  const insert = `insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt, lastUsedDay, kind)
    values ('hash', ${MINA}, 'link', 'Shown', 1073741824, '', 0, 1, 'SHELF')`
  main.exec(insert)
  const link = {
    linkId: 'link',
    name: 'Shown',
    kind: 'SHELF',
    createdAt: '1970-01-01T00:00:00.000Z',
    lastUsedAt: '1970-01-02',
  }
  expect(JSON.parse(await run('links', String(MINA)))).toMatchObject([link])
  expect(JSON.parse(await run('show', String(MINA)))).toMatchObject({ accessTokens: [{ tokenId: 't' }], links: [link] })
  for (const id of ['t', 'another']) await expect(run('delete-link', String(MINA), id)).rejects.toThrow(/No such link/)
  await expect(run('delete-link', String(MINA))).rejects.toThrow(/No such link/)
  expect(await run('delete-link', String(MINA), 'link', '--dry-run')).toBe(
    `delete-link ${MINA}: link link (Shown) (dry run)`,
  )
  expect(count(main, 'accessTokens')).toBe(2)
  expect(await run('delete-link', String(MINA), 'link')).toBe(`delete-link ${MINA}: link link (Shown)`)
  expect(readAll(main, 'accessTokens')).toMatchObject([{ tokenId: 't' }])
})

it('invites an address that no member has, and records that it did', async () => {
  const { main, run, runScript } = await createSlots()
  await expect(run('invite', 'word')).rejects.toThrow(/not a valid e-mail/)
  await expect(run('invite', 'JUN@example.com')).rejects.toThrow(/A member has the address/)
  expect(await run('invite', 'sena@example.com', '--dry-run')).toBe('invite sena@example.com (dry run)')
  expect([count(main, 'joinCodes'), count(main, 'operatorLog')]).toEqual([0, 0])
  const printed = await runScript('invite', 'sena@example.com')
  const [, code] = /^sena@example\.com can sign up once, until .+Z, with the code (\d{12})$/m.exec(printed) ?? []
  expect(printed).toContain(`/docs#invitation?code=${code}&email=sena%40example.com`)
  expect(count(main, 'joinCodes')).toBe(1)
  expect(JSON.stringify(readAll(main, 'joinCodes'))).not.toMatch(new RegExp(`${code}|sena`))
  expect(await run('log')).toMatch(/Z invite 0$/)
})
