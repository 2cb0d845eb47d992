import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { openStores } from '../../scripts/data/stores.ts'
import { readCommand, runCommand as runMembers } from '../../scripts/members/run.ts'
import { addMember, createDatabase, createFolder, JWT_SECRET, runMembersScript } from './databases.ts'

export const SLOT_1 = 2 ** 40
export const [MINA, JUN] = [1, SLOT_1 + 1]
const SETTINGS = { PUBLIC_URL: 'https://library.example/base', IMAGE_BASE_URL: 'https://images.example' }
export const HOUR_MS = 3_600_000

const addCredentials = (database: DatabaseSync, memberId: number, email: string) => {
  database.prepare('update members set email = ? where memberId = ?').run(email, memberId)
  const insertSession = `insert into sessions (memberId, sessionId, createdAt, renewedAt, expiresAt) values (?1, ?2, ?3, ?3, ?4)`
  for (const id of ['one', 'two']) database.prepare(insertSession).run(memberId, id, Date.now(), Date.now() + HOUR_MS)
  const insertToken = `insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt) values (?, ?, 't', 'Script', 1, 'rl_0000abc', 1)`
  database.prepare(insertToken).run(`hash of ${memberId}`, memberId)
  const insertUndo = `insert into emailUndos (memberId, codeHash, email, expiresAt) values (?, ?, 'former@example.com', ?)`
  database.prepare(insertUndo).run(memberId, `undo ${memberId}`, Date.now() + HOUR_MS)
}

/** Two slots: Mina is in slot 0, Jun in slot 1. `run` runs a command here, `runScript` as an operator does. */
export const createSlots = async () => {
  const data = createFolder()
  const [main, slot1] = [createDatabase(data), createDatabase(data, 'DB_1')]
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  slot1.exec(`insert into sqlite_sequence (name, seq) values ('members', ${SLOT_1})`)
  addMember(main, [['A memo', 'Another'], []])
  addMember(slot1, [['A memo']])
  addCredentials(main, MINA, 'Mina@example.com')
  addCredentials(slot1, JUN, 'jun@example.com')
  main.exec(`insert into addresses values (zeroblob(16), ${JUN}, 1, ${JUN}, 'HELD', null)`)
  const location = ['--local', '--persist-to', data]
  const runScript = async (...args: string[]) => {
    const { code, stdout, stderr } = await runMembersScript({ JWT_SECRET }, ...args, ...location)
    return code === 0 ? stdout.trim() : `${code} ${stderr.split('\n')[0]}`
  }
  const { dispose, ...stores } = await openStores({ persistTo: data })
  onTestFinished(dispose)
  const run = async (...args: string[]) => {
    const command = readCommand([...args, ...location])
    return (await runMembers(command, { ...stores, settings: { ...stores.settings, JWT_SECRET, ...SETTINGS } })).join(
      '\n',
    )
  }
  return { data, main, slot1, slots: stores.slots, bucket: stores.bucket, run, runScript }
}

export const readAll = (database: DatabaseSync, table: string) => database.prepare(`select * from ${table}`).all()
export const count = (database: DatabaseSync, table: string) => readAll(database, table).length
